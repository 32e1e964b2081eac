import { createStack } from '@acsp/service';
import {
  type Answer,
  agent,
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

export type Messaging = TestService<Context>;

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
  if (!sweeps && options.databaseUrl === undefined)
    await holdJobs(messaging, 'messaging', ['departures', 'threads expiry']);
  return { ...messaging, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
