import { Credential } from '@acsp/contracts/edge/v1/edge';
import { chooseForm, type Operation, type Route, surfaceOf, unbuilt } from '@acsp/operation';
import { parseIsoTime } from '@acsp/text';
import { z } from 'zod';
import { services } from '../../src/services.js';
import { type Field, field, fieldsOf } from './fields.js';
import type { Sample } from './sample.js';

/** An operation that agents can call; forms that share a path are operations of their own. */
export interface Target {
  /** The name of its sample: `claimTask`. */
  readonly name: string;
  /** `POST /tasks/claim`. */
  readonly http: string;
  readonly route: Route;
  readonly operation: Operation<never, unknown>;
  readonly fields: readonly Field[];
  /** A change of a task that only those who have to do with it may make. */
  readonly closedToOthers: boolean;
}

export type Proof = 'login_key' | 'login_key_body' | 'signature' | 'internal_token' | 'none';

const openToOthers = ['listTasks', 'getTask', 'claimTask'];

/** Every public path of the services that are built. */
const routes = surfaceOf(services.map(({ contract }) => contract));

export const targets: readonly Target[] = services.flatMap(({ name: service, operations }) =>
  routes.flatMap((route) => {
    const name = route.desc.localName;
    const operation = operations[name];
    if (route.service !== service || operation === undefined || operation === unbuilt) return [];
    const http = `${route.method} ${route.path.replace('/api/acsp', '')}`;
    const closedToOthers = service === 'tasks' && !openToOthers.includes(name);
    return { name, http, route, operation, fields: fieldsFor(route, operation.input), closedToOthers };
  }),
);

/** The gateway finds the key of a signature by the AID beside it, which services get from the principal. */
function fieldsFor(route: Route, input: z.ZodType): Field[] {
  const { signer, aid } = route.signature;
  const names = proofOf(route) === 'signature' && signer !== 'registration' ? aid : [];
  return fieldsOf(input).map((one) => (names.includes(one.name) ? { ...one, required: true } : one));
}

/** The fields that the service judges: a signature beside a login key is the gateway's. */
export const ownFields = ({ fields, route: { signature } }: Target): Field[] =>
  fields.filter(({ name }) => !(signature.besides && [signature.field, signature.timeField].includes(name)));

/** True when another operation of the same path serves the sample once this field is gone. */
export function hasAlternative({ route }: Target, { fields }: Sample, name: string): boolean {
  const { [name]: _gone, ...rest } = fields;
  const forms = routes.filter(({ method, path }) => method === route.method && path === route.path);
  return chooseForm(forms, rest).rpc !== route.rpc;
}

/** The credential that the request carries. */
export function proofOf({ by }: Route): Proof {
  if (by[0] === Credential.SIGNATURE) return 'signature';
  if (by[0] === Credential.INTERNAL_TOKEN) return 'internal_token';
  if (by.includes(Credential.LOGIN_KEY_IN_BODY)) return 'login_key_body';
  // A token is a field, which the service judges.
  return by.includes(Credential.NONE) || by.includes(Credential.EVENT_TOKEN) ? 'none' : 'login_key';
}

/** The fields that the gateway itself reads from a request, beside those of the service. */
export function gatewayFields(route: Route): Field[] {
  const text = (name: string, schema: z.ZodType) => field(name, schema, { required: true, json: { type: 'string' } });
  const { signature } = route;
  switch (proofOf(route)) {
    case 'login_key_body':
      return [text('login_key', z.string().regex(/^nk_[\w-]{43}$/))];
    case 'signature':
      return [
        text(
          signature.timeField,
          z.string().refine((value) => parseIsoTime(value) !== undefined),
        ),
        text(signature.field, z.string().regex(/^[0-9a-f]{128}$/)),
        ...(signature.signer === 'holder' ? [text('public_key', z.string().regex(/^[0-9a-f]{64}$/))] : []),
      ];
    default:
      return [];
  }
}
