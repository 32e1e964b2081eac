import { startRelay } from '@acsp/bus';
import { AgentEventSchema, LoginKeyEventSchema } from '@acsp/contracts/identity/v1/events';
import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { type Doors, serveDoors } from '@acsp/http';
import { createStack, type Health } from '@acsp/service';
import type { Context } from './context.js';
import { operations } from './routes.js';

const payloads = { agent: AgentEventSchema, login_key: LoginKeyEventSchema };

/** Starts relay and doors. Returns as soon as it answers, even where the database is still away: then with 503. */
export async function start(context: Context, health: Health): Promise<Doors> {
  const { database, bus, config, principals, log } = context;
  const stack = createStack({ log });
  // Not the bus: while it is away nothing is refused, events wait in the outbox.
  health.check('database', () => database.ping());

  const relay = stack.use(startRelay({ database, bus, service: 'identity', payloads, log }));
  const doors = stack.use(
    await serveDoors({
      service: IdentityService,
      operations,
      context,
      afterWrite: relay.wake,
      principals,
      host: config.HOST,
      httpPort: config.HTTP_PORT,
      grpcPort: config.GRPC_PORT,
      health,
      log,
    }),
  );
  return { ...doors, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
