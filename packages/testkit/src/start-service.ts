import { type Bus, embeddedBus } from '@acsp/bus';
import {
  type Agent,
  chooseForm,
  type Fields,
  type Principal,
  type Principals,
  principalHeader,
  type Route,
  routeTable,
  surfaceOf,
} from '@acsp/operation';
import {
  createHealth,
  createLogger,
  type Health,
  loadConfig,
  type Overrides,
  type Running,
  type Service,
  startOnStack,
} from '@acsp/service';
import type { z } from 'zod';
import { testDatabase } from './database.js';

export interface ServiceOptions extends Overrides {
  /** Variables of the service besides those that the harness sets. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A database in place of a new one, such as that of a replica which runs already. */
  readonly databaseUrl?: string;
  /** False does not wait for the tables: for a database that is away. */
  readonly migrated?: boolean;
}

export interface RequestOptions {
  /** Text and bytes go as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
  readonly body: any;
}

export interface TestService<Context> extends AsyncDisposable {
  readonly running: Running<Context>;
  readonly context: Context;
  /** The public door. */
  readonly url: string;
  /** The contract door, for createPeer. */
  readonly address: string;
  readonly health: Health;
  readonly bus: Bus;
  readonly databaseUrl: string;
  readonly principals: Principals;
  /** `call(agent('Ann'), 'POST /tasks/claim', { task_id })` asks the public door as the gateway would; no caller sends no principal. */
  call(caller: Principal | undefined, request: string, body?: unknown): Promise<Answer>;
  /** The same for headers, streams and requests that break off. */
  send(caller: Principal | undefined, request: string, options?: RequestOptions): Promise<Response>;
}

/** The same for every service of a run, so that services accept each other's principals. */
export const principalSecret = 'a secret that only this run of the tests knows';

/** A whole service on a database and a bus of its own, with both doors on free ports. */
export function startService<Shape extends z.ZodRawShape, Context>(
  service: Service<Shape, Context>,
  { env, clock, bus, databaseUrl, migrated = true }: ServiceOptions = {},
): Promise<TestService<Context>> {
  const log = createLogger({ name: service.name, level: process.env.DEBUG_TESTS ? 'debug' : 'silent' });
  return startOnStack({}, async (stack) => {
    const url = databaseUrl ?? stack.use(await testDatabase()).url;
    const health = createHealth();
    const ownBus = bus ?? stack.use(embeddedBus({ databaseUrl: url, log }));
    const config = loadConfig(service.config, { ...environment(url), ...env });
    const running = stack.use(await service.start({ config, log, health }, { bus: ownBus, clock }));
    if (migrated) await running.migrated;
    const { context, address, principals } = running;
    const door = doorOf(service, running);
    return { running, context, url: running.url, address, health, bus: ownBus, databaseUrl: url, principals, ...door };
  });
}

type Door = Pick<TestService<unknown>, 'call' | 'send'>;
type Reached = Pick<Running<unknown>, 'url' | 'principals'>;

/** The public door of a service, such as one that runs in a process of its own. */
export function doorOf(service: Pick<Service, 'name' | 'contract'>, reached: Reached): Door {
  const send = sender(service, reached);
  return { send, call: async (caller, request, body) => read(await send(caller, request, { body })) };
}

const environment = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  PRINCIPAL_SECRET: principalSecret,
  HOST: '127.0.0.1',
  HTTP_PORT: '0',
  GRPC_PORT: '0',
});

function sender(service: Pick<Service, 'name' | 'contract'>, { url, principals }: Reached): Door['send'] {
  const routes = routeTable(surfaceOf([service.contract]));
  return (caller, request, options = {}) => {
    const { body, headers, signal } = options;
    const [method = '', target = ''] = request.split(' ');
    const { pathname, searchParams } = new URL(`/api/acsp${target}`, url);
    const found = routes(method, pathname);
    if (!('rows' in found)) throw new Error(`${service.name} has no ${request}`);
    const principal = caller && {
      [principalHeader]: signed(principals, caller, formOf(found.rows, searchParams, body)),
    };
    return fetch(`${url}/api/acsp${target}`, {
      method,
      headers: { 'content-type': 'application/json', ...principal, ...headers },
      body: bytesOf(body),
      ...(signal && { signal }),
    });
  };
}

const signed = (principals: Principals, caller: Principal, { rpc }: Route) => principals.sign({ ...caller, rpc });

/** Chooses among forms that share a path as the gateway would. */
function formOf(forms: readonly Route[], query: URLSearchParams, body: unknown): Route {
  return chooseForm(forms, { ...Object.fromEntries(query), ...membersOf(body) });
}

function membersOf(body: unknown): Fields {
  try {
    const text =
      typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : undefined;
    const value: unknown = text === undefined ? body : JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

function bytesOf(body: unknown): string | Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined || typeof body === 'string') return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

async function read(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = /json/.test(headers.get('content-type') ?? '') && text !== '';
  return { status, headers, body: isJson ? JSON.parse(text) : text };
}

let agents = 0;

/** An agent with an AID of its own that proved itself by its login key. It registered long ago. */
export function agent(name: string, fields: Partial<Agent> = {}): Agent {
  agents += 1;
  const aid = agents.toString(16).padStart(50, '0');
  return { aid, name, via: 'login_key', requestId: 'test', registeredAt: Date.UTC(2025, 0, 1), ...fields };
}

/** A caller whom nobody knows. */
export const anonymous: Principal = { name: '', via: 'anonymous', requestId: 'test' };
