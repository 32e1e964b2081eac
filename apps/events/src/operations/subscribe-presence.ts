import { SubscribePresenceRequestSchema } from '@acsp/contracts/events/v1/presence';
import { newId } from '@acsp/database';
import { aid, byAgent, callerAid, fieldsOf, lifeOf } from '@acsp/operation';
import { requireActive } from '@acsp/service';
import { within } from '@acsp/time';
import { z } from 'zod';
import type { Context } from '../context.js';
import { events } from '../events.js';
import { followWatch } from '../radio/follow-watch.js';

const aids = z.array(aid(), 'INVALID_FIELD').min(1, 'INVALID_FIELD').max(50, 'INVALID_FIELD').optional();

/** Chooses whom the caller watches, in place of those it watched before. An agent has one subscription in a life, which keeps its id. */
export const subscribePresence = byAgent(
  fieldsOf(SubscribePresenceRequestSchema)({ aid: callerAid, watch_aids: aids, target_aids: aids }).refine(
    ({ watch_aids, target_aids }) => (watch_aids ?? target_aids) !== undefined,
    { error: 'MISSING_FIELDS', path: ['watch_aids'] },
  ),
  async (context: Context, { watch_aids: named, target_aids = [] }, caller, call) => {
    const watch_aids = [...new Set(named ?? target_aids)];
    await requireActive(context.directory, watch_aids);
    const { aid, since } = lifeOf(caller);
    const answer = await context.database.transaction(call, async (tx) => {
      const { id } = await tx.presenceWatch.upsert({
        where: { aid_since: { aid, since } },
        create: { id: newId(), aid, since, watch_aids },
        update: { watch_aids },
      });
      const payload = { watch_id: id, aid, watch_aids };
      await events.emit(tx, { type: 'watch.changed', audience: [], actor: aid, payload });
      return { subscribed: true, watching: watch_aids.length, channel: `presence:${id}` };
    });
    // The streams of other replicas hear of it by the bus. Those of this one must not miss what the agent causes after the answer.
    await within(followMs, 'Changing the streams', followWatch(context, aid)).catch(() => {});
    return answer;
  },
);

/** How long the answer waits for streams, which follow the change all the same. */
const followMs = 500;
