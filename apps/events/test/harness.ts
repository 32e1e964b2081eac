import {
  type Answer,
  agent,
  type BesideIdentityOptions,
  eventually,
  startBesideIdentity,
  stranger,
  type TestService,
} from '@acsp/testkit';
import type { Context } from '../src/context.js';
import { service } from '../src/service.js';

export { type Answer, agent, stranger };

export type Events = TestService<Context>;
export type Options = BesideIdentityOptions;

/** Nobody listens there: tests that need a messaging service name its address in `env`. */
const nowhere = '127.0.0.1:9';

/** The events service on a database of its own, with an identity service that knows every agent but the stranger. */
export async function startEvents(options: Options = {}): Promise<Events> {
  const env = { MESSAGING_GRPC: nowhere, ...options.env };
  const events = await startBesideIdentity(service, ['departures', 'presence sweep'], { ...options, env });
  // The store has migrations of its own.
  if (options.migrated !== false)
    await eventually(() => events.context.store.ready().then(() => true), { timeoutMs: 20_000 });
  return events;
}
