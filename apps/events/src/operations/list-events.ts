import { ListEventsRequestSchema } from '@acsp/contracts/events/v1/events';
import { byAgent, callerAid, fieldsOf, lifeOf, queryInteger } from '@acsp/operation';
import type { Context } from '../context.js';
import { eventIdField, positionOf } from '../feed/event-id.js';
import { listFeeds } from '../feed/list.js';
import { agentFeed, channelFeed, globalFeed, presenceFeeds } from '../feed/names.js';

/** The events that the caller has missed: of its own feed, the channels that it is a member of, and the agents that it watches. */
export const listEvents = byAgent(
  fieldsOf(ListEventsRequestSchema)({
    aid: callerAid,
    after: eventIdField.optional(),
    limit: queryInteger(1, 500).default(100),
  }),
  async (context: Context, { after, limit }, caller, { reply }) => {
    const { bus, messaging, database } = context;
    const { aid, since } = lifeOf(caller);
    const [{ channels }, watch] = await Promise.all([
      messaging.findChannels({ aid, registered_at: since, names: [] }),
      database.prisma.presenceWatch.findUnique({ where: { aid_since: { aid, since } } }),
    ]);
    const feeds = [
      agentFeed(aid),
      globalFeed,
      ...channels.map(({ channel_id }) => channelFeed(channel_id)),
      ...presenceFeeds(watch?.watch_aids ?? []),
    ];
    const { events, truncated } = await listFeeds(bus.feed, feeds, {
      after: after == null ? undefined : positionOf(after),
      limit,
    });
    if (truncated) reply.headers['Events-Truncated'] = 'true';
    return { events };
  },
);
