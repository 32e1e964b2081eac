import type { Bus } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema, LoginKeyEventSchema } from '@acsp/contracts/identity/v1/events';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import type { Keys } from './keys.js';

/** Forgets what is known of an agent as soon as the identity service says that it changed, ended, or lost a login key. */
export function watchKeys(bus: Bus, keys: Keys): Promise<AsyncDisposable> {
  return bus.watch({
    // Not agent.registered: nothing is kept of an agent that does not exist.
    subjects: [
      'acsp.identity.agent.updated',
      'acsp.identity.agent.revoked',
      'acsp.identity.agent.deleted',
      'acsp.identity.login_key.*',
    ],
    handle(event) {
      const aid = subjectOf(event);
      if (aid !== undefined) keys.drop(aid);
    },
    onLive: keys.setLive,
  });
}

function subjectOf({ payload }: Event): string | undefined {
  if (payload === undefined) return undefined;
  return (anyUnpack(payload, AgentEventSchema) ?? anyUnpack(payload, LoginKeyEventSchema))?.aid;
}
