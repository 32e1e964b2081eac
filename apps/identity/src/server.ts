import { startRelay } from '@acsp/bus';
import { AgentEventSchema, LoginKeyEventSchema } from '@acsp/contracts/identity/v1/events';
import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { serveHttp } from '@acsp/http';
import { serveRpc } from '@acsp/rpc';
import { createStack, every, type Health } from '@acsp/service';
import type { Context } from './context.js';
import { operations } from './routes.js';

export interface IdentityServer extends AsyncDisposable {
  /** The public door, such as `http://127.0.0.1:4101`. */
  readonly url: string;
  /** The contract door, `host:port`. */
  readonly address: string;
}

const healthIntervalMs = 1_000;
const payloads = { agent: AgentEventSchema, login_key: LoginKeyEventSchema };

/** Starts relay and doors. Returns as soon as it answers, even where the database is still away: then with 503. */
export async function start(context: Context, health: Health): Promise<IdentityServer> {
  const { database, bus, config, principals, log } = context;
  const stack = createStack({ log });
  // Not the bus: while it is away nothing is refused, events wait in the outbox.
  health.check('database', () => database.ping());

  const relay = stack.use(startRelay({ database, bus, service: 'identity', payloads, log }));
  const door = {
    service: IdentityService,
    operations,
    context,
    afterWrite: relay.wake,
    principals,
    host: config.HOST,
    log,
  };
  const rpc = stack.use(await serveRpc({ ...door, port: config.GRPC_PORT }));
  stack.use(every(healthIntervalMs, async () => rpc.setServing((await health.ready()).ready), log));
  const http = stack.use(await serveHttp({ ...door, port: config.HTTP_PORT }));
  return { url: http.url, address: rpc.address, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
