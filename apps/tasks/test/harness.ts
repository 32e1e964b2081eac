import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { withAdvisoryLock } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { type Agent, byAnyone, byService, createPrincipals, serveRpc } from '@acsp/rpc';
import { type Clock, createHealth, createLogger, createStack, type Health } from '@acsp/service';
import { testDatabase } from '@acsp/testkit';
import { z } from 'zod';
import { configSchema } from '../src/config.js';
import { type Context, createContext } from '../src/context.js';
import { start } from '../src/server.js';

const secret = 'a secret that only this test run knows';
/** Of every service in the tests. */
export const principals = createPrincipals(secret);
export const log = createLogger({ name: 'tasks', level: 'silent' });

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
  readonly body: any;
}

export interface Tasks extends AsyncDisposable {
  readonly context: Context;
  readonly health: Health;
  /** Where the contract door listens. */
  readonly address: string;
  readonly databaseUrl: string;
  /** A request at the public door as the gateway would forward it; `agent` undefined sends no principal. */
  call(agent: Agent | undefined, request: string, body?: unknown): Promise<Answer>;
}

export interface Options {
  readonly clock?: Clock;
  /** Of a service that runs already, to share it. */
  readonly databaseUrl?: string;
  /** Of an identity service, in place of the one that knows every agent but the stranger. */
  readonly identityAddress?: string;
  /** Of a search service; absent as where none is deployed. */
  readonly searchAddress?: string;
  /** How long a claim waits for search; the service's own limit when absent. */
  readonly matchTimeoutMs?: number;
  /** Whether the service's own sweep may run; otherwise only that of the test does. */
  readonly sweeps?: boolean;
  /** Whether to wait for the tables; false where the database is away. */
  readonly migrated?: boolean;
}

let made = 0;

/** An agent that exists, with an AID of its own. */
export function agent(name: string): Agent {
  made += 1;
  const aid = made.toString(16).padStart(50, '0');
  return { aid, name, via: 'login_key', requestId: 'test' };
}

export const stranger = { aid: 'f'.repeat(50), name: 'nobody' };

/** The tasks service on a database of its own, with an identity service that knows every agent but the stranger. */
export async function startTasks({
  clock,
  databaseUrl,
  identityAddress,
  searchAddress,
  matchTimeoutMs,
  sweeps = false,
  migrated = true,
}: Options = {}): Promise<Tasks> {
  const stack = createStack();
  const url = databaseUrl ?? stack.use(await testDatabase()).url;
  const config = configSchema.parse({
    DATABASE_URL: url,
    IDENTITY_GRPC: identityAddress ?? stack.use(await serveKnownAgents()).address,
    SEARCH_GRPC: searchAddress,
    MATCH_TIMEOUT_MS: matchTimeoutMs,
    PRINCIPAL_SECRET: secret,
    HOST: '127.0.0.1',
    HTTP_PORT: 0,
    GRPC_PORT: 0,
  });
  const context = stack.use(createContext(config, log, { clock }));
  const health = createHealth();
  const server = stack.use(await start(context, health));
  if (migrated) await context.database.migrated;
  if (migrated && !sweeps) stack.use(await holdSweep(context));
  return {
    context,
    health,
    address: server.address,
    databaseUrl: url,
    async call(caller, request, body) {
      const [method, path] = request.split(' ');
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (caller !== undefined) headers['acsp-principal'] = principals.sign(caller);
      const answer = await fetch(`${server.url}/api/acsp${path}`, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

/** As a replica that is at work, which makes the others wait. */
async function holdSweep({ database }: Context): Promise<AsyncDisposable> {
  let release = () => {};
  let held: Promise<unknown> = Promise.resolve();
  await new Promise<void>((begun, failed) => {
    const work = () =>
      new Promise<void>((done) => {
        release = done;
        begun();
      });
    held = withAdvisoryLock(database.pool, 'tasks-expiry', work);
    held.then(() => begun(), failed);
  });
  return {
    async [Symbol.asyncDispose]() {
      release();
      await held;
    },
  };
}

/** The one rpc of identity that tasks calls, by its contract. */
function serveKnownAgents() {
  const input = z.object({ aids: z.array(z.string()) });
  const batchGetAgents = byService(input, async (_context, { aids }: { aids: string[] }) => ({
    agents: aids.filter((aid) => aid !== stranger.aid).map((aid) => ({ aid })),
  }));
  const others = byAnyone('', z.object({}), () => Promise.reject(new AppError('INTERNAL_ERROR')));
  const operations = Object.fromEntries(IdentityService.methods.map(({ localName }) => [localName, others]));
  return serveRpc({
    service: IdentityService,
    operations: { ...operations, batchGetAgents },
    context: {},
    principals,
    host: '127.0.0.1',
    port: 0,
    log,
  });
}
