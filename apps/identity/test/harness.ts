import { aidOf, generateKeyPair } from '@acsp/crypto';
import { catalogue, type ErrorCode } from '@acsp/errors';
import { type Agent, createPrincipals, type Principal } from '@acsp/rpc';
import { type Clock, createHealth, createLogger, createStack, type Health } from '@acsp/service';
import { testDatabase } from '@acsp/testkit';
import { configSchema } from '../src/config.js';
import { type Context, createContext } from '../src/context.js';
import { start } from '../src/server.js';

export const publicUrl = 'https://acsp.example';
const secret = 'a secret that only this test run knows';
export const principals = createPrincipals(secret);
const log = createLogger({ name: 'identity', level: 'silent' });

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
  readonly body: any;
}

export interface Identity extends AsyncDisposable {
  readonly context: Context;
  readonly health: Health;
  /** Where the contract door listens. */
  readonly address: string;
  readonly databaseUrl: string;
  /** A request at the public door as the gateway would forward it; `caller` undefined sends no principal, a text goes as it is. */
  call(caller: Principal | undefined, request: string, body?: unknown): Promise<Answer>;
  /** A new agent, registered with a key pair of its own. */
  registered(fields?: object): Promise<Registered>;
  /** Types of the events about an agent so far. */
  eventsOf(aid: string): Promise<string[]>;
}

export interface Registered extends Agent {
  readonly publicKey: string;
  readonly loginKey: string;
}

export interface Options {
  readonly clock?: Clock;
  /** Of a service that runs already, to share it. */
  readonly databaseUrl?: string;
  /** Whether to wait for the tables; false where the database is away. */
  readonly migrated?: boolean;
}

export const nobody: Principal = { name: '', via: 'anonymous', requestId: 'test' };

/** Someone with a new key pair that nobody has registered. */
export function newcomer(): Agent & { readonly publicKey: string } {
  const { publicKey } = generateKeyPair();
  return { aid: aidOf(publicKey), name: '', via: 'signature', requestId: 'test', publicKey };
}

export const profile = { agent_name: 'Ann', capabilities: ['search', 'summary'], description: 'Finds things' };

/** What a problem answer with this code has. */
export const refused = (code: ErrorCode) => ({ status: catalogue[code].http, body: { code } });

/** Rows of a field, a value and the code that refuses it, with a short text of the value for the test's name. */
export const withLabels = (rows: readonly (readonly [field: string, value: unknown, code: ErrorCode])[]) =>
  rows.map(([field, value, code]) => [field, label(value), code, value] as const);

function label(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 24 ? `${text.slice(0, 20)}… (${text.length})` : text;
}

/** The identity service on a database of its own. */
export async function startIdentity({ clock, databaseUrl, migrated = true }: Options = {}): Promise<Identity> {
  const stack = createStack();
  const url = databaseUrl ?? stack.use(await testDatabase()).url;
  const context = stack.use(createContext(configOf(url), log, { clock }));
  const health = createHealth();
  const server = stack.use(await start(context, health));
  if (migrated) await context.database.migrated;
  const call: Identity['call'] = async (caller, request, body) => {
    const [method, path] = request.split(' ');
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (caller !== undefined) headers['acsp-principal'] = principals.sign(caller);
    const answer = await fetch(`${server.url}/api/acsp${path}`, { method, headers, body: toText(body) });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
  return {
    context,
    health,
    address: server.address,
    databaseUrl: url,
    call,
    async registered(fields) {
      const agent = newcomer();
      const { body } = await call(agent, 'POST /register', { public_key: agent.publicKey, ...profile, ...fields });
      return { ...agent, name: body.agent_name, via: 'login_key', loginKey: body.login_key };
    },
    async eventsOf(aid) {
      const rows = await context.database.prisma.$queryRaw<{ type: string }[]>`
        SELECT type FROM bus.outbox WHERE payload ->> 'aid' = ${aid} ORDER BY position`;
      return rows.map(({ type }) => type);
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

const toText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));

const configOf = (databaseUrl: string) =>
  configSchema.parse({
    DATABASE_URL: databaseUrl,
    PRINCIPAL_SECRET: secret,
    PUBLIC_URL: `${publicUrl}/`,
    REGION_ID: '7',
    HOST: '127.0.0.1',
    HTTP_PORT: 0,
    GRPC_PORT: 0,
  });
