import { createStack } from '@acsp/service';
import {
  type Answer,
  agent,
  eventually,
  holdJobs,
  type ServiceOptions,
  serveKnownAgents,
  startService,
  stranger,
  type TestService,
} from '@acsp/testkit';
import type { Context } from '../src/context.js';
import { service } from '../src/service.js';

export { type Answer, agent, stranger };

export type Events = TestService<Context>;

export interface Options extends ServiceOptions {
  /** When agents registered, in milliseconds since 1970, where it is not long ago; for those who were deleted and are back. */
  readonly registered?: ReadonlyMap<string, number>;
  /** True lets the service's own sweeps run; otherwise only those of the test do. */
  readonly sweeps?: boolean;
}

/** Nobody listens there: tests that need a messaging service name its address in `env`. */
const nowhere = '127.0.0.1:9';

/** The events service on a database of its own, with an identity service that knows every agent but the stranger. */
export async function startEvents({ registered, sweeps = false, ...options }: Options = {}): Promise<Events> {
  const stack = createStack();
  const identity = stack.use(await serveKnownAgents(registered));
  const env = { IDENTITY_GRPC: identity.address, MESSAGING_GRPC: nowhere, ...options.env };
  const events = stack.use(await startService(service, { ...options, env }));
  // The store has migrations of its own.
  if (options.migrated !== false)
    await eventually(() => events.context.store.ready().then(() => true), { timeoutMs: 20_000 });
  // The first of several services on one database holds the sweeps of all.
  if (!sweeps && options.databaseUrl === undefined) await holdJobs(events, 'events', ['departures', 'presence sweep']);
  return { ...events, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
