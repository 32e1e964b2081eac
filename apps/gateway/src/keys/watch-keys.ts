import { type Bus, payloadOf } from '@acsp/bus';
import { AgentEventSchema, LoginKeyEventSchema, PathEventSchema } from '@acsp/contracts/identity/v1/events';
import type { Keys } from './keys.js';

/** Forgets an agent's credentials as soon as the identity service says that it changed, ended, or lost a login key. */
export function watchKeys(bus: Bus, keys: Keys): AsyncDisposable {
  return bus.watch({
    // agent.registered is left out, because nothing is cached for an agent that does not exist.
    subjects: [
      'acsp.identity.agent.updated',
      'acsp.identity.agent.revoked',
      'acsp.identity.agent.deleted',
      'acsp.identity.login_key.*',
      'acsp.identity.path.proven',
    ],
    handle(event) {
      if (event.type === 'path.proven') keys.pathProven(payloadOf(PathEventSchema, event).nonce);
      else keys.drop(payloadOf(event.type.startsWith('agent.') ? AgentEventSchema : LoginKeyEventSchema, event).aid);
    },
    onLive: keys.setLive,
  });
}
