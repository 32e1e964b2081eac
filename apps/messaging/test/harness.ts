import {
  type Answer,
  agent,
  type BesideIdentityOptions,
  startBesideIdentity,
  stranger,
  type TestService,
} from '@acsp/testkit';
import type { Context } from '../src/context.js';
import { service } from '../src/service.js';

export { type Answer, agent, stranger };

export type Messaging = TestService<Context>;
export type Options = BesideIdentityOptions;

/** The messaging service on a database of its own, with an identity service that knows every agent but the stranger. */
export const startMessaging = (options: Options = {}): Promise<Messaging> =>
  startBesideIdentity(service, ['departures', 'threads expiry'], options);
