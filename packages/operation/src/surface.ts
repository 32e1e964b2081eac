import { Credential, type Edge, edge, moved, Signer } from '@acsp/contracts/edge/v1/edge';
import type { ErrorCode } from '@acsp/errors';
import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf';
import type { Fields } from './codec.js';

/** The conditions that a signature has to meet (decisions, 2 and 8 "Signatures"). */
export interface SignatureRule {
  /** Whose key verifies: a registered agent's; for a `registration` the key in the body; a `holder` names its registered key in the body too. */
  readonly signer: 'agent' | 'registration' | 'holder';
  /** The fields that name the caller, who signs; the first that is given counts. */
  readonly aid: readonly string[];
  readonly field: string;
  readonly timeField: string;
  readonly timeOptional: boolean;
  /** How far the timestamp may be from now, either way. */
  readonly driftSeconds: number;
  readonly driftCode: ErrorCode;
  /** The error of a request without a signature. */
  readonly missingCode: ErrorCode;
  /** A request by a login key may carry a signature besides, which must verify then. */
  readonly besides: boolean;
}

/** How agents reach an rpc, from the option `(acsp.edge.v1.edge)` beside it, with its defaults filled in. */
export interface Route {
  /** `acsp.tasks.v1.TasksService/ClaimTask`: the gateway signs it into the principal, and the service's door looks it up. */
  readonly rpc: string;
  /** `tasks`, from the package of the contract. */
  readonly service: string;
  readonly method: 'GET' | 'POST';
  /** `/api/acsp/tasks/{id}` */
  readonly path: string;
  /** The first of these that the request carries counts. */
  readonly by: readonly Credential[];
  /** Name of the rate limit; absent where there is none. */
  readonly limit: string | undefined;
  /** This form of a path that several share serves when any of these fields is given. */
  readonly given: readonly string[];
  readonly status: number;
  readonly maxBodyBytes: number;
  readonly signature: SignatureRule;
  readonly secret: boolean;
  readonly page: boolean;
  /** The request's field that takes the body as it was sent. */
  readonly body: string | undefined;
  /** The response's field that is the whole answer. */
  readonly answer: string | undefined;
  readonly desc: DescMethod;
}

/** A public path that is no more, and what replaces it. */
export interface MovedPath {
  readonly method: string;
  readonly path: string;
  readonly to: string;
}

const prefix = '/api/acsp/';

export const rpcName = ({ parent, name }: DescMethod): string => `${parent.typeName}/${name}`;

/** `acsp.tasks.v1.TasksService` is `tasks`. */
export const serviceName = (service: DescService): string => service.typeName.split('.')[1] ?? '';

/** The route of an rpc; undefined where only services may call it. */
export function routeOf(desc: DescMethod): Route | undefined {
  if (!hasOption(desc, edge)) return undefined;
  const option = getOption(desc, edge);
  const { case: method, value: path } = option.http;
  if (method === undefined) throw new Error(`${desc} has no method and path`);
  if (option.by.length === 0) throw new Error(`${desc} names no credential`);
  return {
    rpc: rpcName(desc),
    service: serviceName(desc.parent),
    method: method === 'get' ? 'GET' : 'POST',
    path: prefix + path,
    by: option.by,
    limit: option.limit || undefined,
    given: option.given,
    status: option.status || 200,
    maxBodyBytes: option.maxBodyBytes || 64 * 1024,
    signature: ruleOf(option),
    ...flagsOf(option),
    desc,
  };
}

const flagsOf = ({ secret, page, body, answer }: Edge) => ({
  secret,
  page,
  body: body || undefined,
  answer: answer || undefined,
});

const signers = {
  [Signer.UNSPECIFIED]: 'agent',
  [Signer.AGENT]: 'agent',
  [Signer.REGISTRATION]: 'registration',
  [Signer.HOLDER]: 'holder',
} as const;

function ruleOf({ signature: rule, anyAid }: Edge): SignatureRule {
  return {
    signer: signers[rule?.signer ?? Signer.AGENT],
    aid: rule?.aid.length ? rule.aid : anyAid ? [] : ['aid'],
    field: rule?.field || 'signature',
    timeField: rule?.timeField || 'timestamp',
    timeOptional: rule?.timeOptional ?? false,
    driftSeconds: rule?.driftSeconds || 300,
    driftCode: (rule?.driftCode || 'TIMESTAMP_OUT_OF_RANGE') as ErrorCode,
    missingCode: (rule?.missingCode || 'AUTH_REQUIRED') as ErrorCode,
    besides: rule?.besides ?? false,
  };
}

/** Every public path of some contracts: a route for each path that an operation has. */
export function surfaceOf(services: Iterable<DescService>): Route[] {
  const methods = [...services].flatMap((service) => service.methods);
  return methods.flatMap((desc) => {
    const route = routeOf(desc);
    if (route === undefined) return [];
    const aliases = getOption(desc, edge).aliases.map((path) => ({ ...route, path: prefix + path }));
    const elsewhere = aliases.find(({ path }) => parameterPlaces(path) !== parameterPlaces(route.path));
    if (elsewhere !== undefined) throw new Error(`${desc} has its parameters elsewhere in ${elsewhere.path}`);
    return [route, ...aliases];
  });
}

/** Doors read the parameters of an alias by the main path. */
const parameterPlaces = (path: string): string =>
  path
    .split('/')
    .flatMap((segment, index) => (segment.startsWith('{') ? [`${index} ${segment}`] : []))
    .join();

export function movedPathsOf(services: Iterable<DescService>): MovedPath[] {
  const options = [...services].flatMap((service) => getOption(service, moved));
  return options.flatMap(({ path, methods, to }) =>
    methods.map((method) => ({ method, path: prefix + path, to: prefix + to })),
  );
}

/** True when any of these fields is there. Null counts as absent. */
export const given = (names: readonly string[], fields: Fields): boolean =>
  names.some((name) => fields[name] !== undefined && fields[name] !== null);

/** The fields choose among forms that share a path. */
export function chooseForm(forms: readonly Route[], fields: Fields): Route {
  const fitting = forms.find((form) => given(form.given, fields)) ?? forms.find((form) => form.given.length === 0);
  return fitting ?? (forms[0] as Route);
}

/** Credentials that prove who the caller is. */
const proofs = new Set<Credential>([Credential.LOGIN_KEY, Credential.LOGIN_KEY_IN_BODY, Credential.SIGNATURE]);

/** True when the caller of an operation is always a known agent. */
export const isForAgents = ({ by }: Pick<Route, 'by'>): boolean => by.every((credential) => proofs.has(credential));
