import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import { requestFields, toMessage } from '@acsp/operation';
import { serveRpc } from '@acsp/rpc';
import { createStack } from '@acsp/service';
import { type Answer, agent, type ServiceOptions, startService, type TestService } from '@acsp/testkit';
import type { Context } from '../src/context.js';
import { service } from '../src/service.js';

export { type Answer, agent };

export type Messaging = TestService<Context>;

/** The registration of agents of the testkit. */
const longAgo = agent('Any').registeredAt ?? 0;

export const stranger = { aid: 'f'.repeat(50), name: 'nobody' };

export interface Options extends ServiceOptions {
  /** When agents registered, in milliseconds since 1970, where it is not long ago; for those who were deleted and are back. */
  readonly registered?: ReadonlyMap<string, number>;
  /** True lets the service's own sweeps run; otherwise only those of the test do. */
  readonly sweeps?: boolean;
}

/** The messaging service on a database of its own, with an identity service that knows every agent but the stranger. */
export async function startMessaging({ registered, sweeps = false, ...options }: Options = {}): Promise<Messaging> {
  const stack = createStack();
  const identity = stack.use(await serveKnownAgents(registered));
  const env = { IDENTITY_GRPC: identity.address, ...options.env };
  const messaging = stack.use(await startService(service, { ...options, env }));
  // The first of several services on one database holds the sweeps of all.
  if (!sweeps && options.databaseUrl === undefined) await holdSweeps(messaging);
  return { ...messaging, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}

/** A replica at work holds these locks, and the others wait. */
async function holdSweeps({ context }: Messaging): Promise<void> {
  for (const job of ['departures', 'threads expiry']) {
    await new Promise<void>((begun) => {
      context.database.session.lead(`messaging ${job}`, async (_client, signal) => {
        begun();
        await new Promise<void>((end) => signal.addEventListener('abort', () => end(), { once: true }));
      });
    });
  }
}

/** The one rpc of identity that messaging calls, by its contract. */
const serveKnownAgents = (registered: ReadonlyMap<string, number> = new Map()) =>
  serveRpc({
    service: IdentityService,
    host: '127.0.0.1',
    port: 0,
    async handle(desc, request) {
      if (desc.name !== 'BatchGetAgents') throw new AppError('INTERNAL_ERROR');
      const { aids = [] } = requestFields(desc.input, request) as { aids?: string[] };
      const known = aids.filter((aid) => aid !== stranger.aid);
      const registered_at = known.map((aid) => new Date(registered.get(aid) ?? longAgo));
      return toMessage(desc.output, { agents: known.map((aid) => ({ aid })), registered_at });
    },
  });
