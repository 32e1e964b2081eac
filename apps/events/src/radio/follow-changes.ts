import { payloadOf } from '@acsp/bus';
import { RadioEventSchema, WatchEventSchema } from '@acsp/contracts/events/v1/announcements';
import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import { ChannelEventSchema } from '@acsp/contracts/messaging/v1/events';
import type { Context } from '../context.js';
import { channelFeed } from '../feed/names.js';
import { followWatch } from './follow-watch.js';
import type { Hub } from './hub.js';
import { markStale, type Radio } from './radio.js';

/** True where an event of this life of an agent is one of the stream's own. */
const isOf = ({ since }: Radio, registered_at: Date | null) => since.getTime() === registered_at?.getTime();

/** While the bus was away something may have been missed that ends a stream: all end within this time, spread out, and resume. */
const renewWithinMs = 10_000;

type Surroundings = Pick<Context, 'bus' | 'database' | 'log'>;

/** Ends and changes open streams when what they were opened with ends or changes: token, agent, membership, what is watched. */
export function followChanges({ bus, database, log }: Surroundings, hub: Hub): AsyncDisposable {
  const subscribe = (radio: Radio, feeds: readonly string[]) =>
    hub.subscribe(radio, feeds).catch((error) => {
      log.warn({ err: error, aid: radio.aid }, 'a stream cannot hear other feeds and has to resume');
      hub.close(radio, 'shutdown');
    });
  const changes: Readonly<Record<string, (event: Event) => void>> = {
    'radio.opened'(event) {
      const { token_id, number } = payloadOf(RadioEventSchema, event);
      const radio = hub.byToken(token_id);
      if (radio !== undefined && radio.number < number) hub.close(radio, 'token_expired');
    },
    'watch.changed'(event) {
      void followWatch({ database, log, hub }, payloadOf(WatchEventSchema, event).aid);
    },
    'channel.left'(event) {
      const { aid, channel_id, is_public, registered_at } = payloadOf(ChannelEventSchema, event);
      if (is_public) return;
      for (const radio of hub.byAgent(aid)) {
        if (markStale(radio) || !isOf(radio, registered_at)) continue;
        const others = radio.feeds.filter((name) => name !== channelFeed(channel_id));
        void subscribe(radio, others);
      }
    },
    'agent.revoked': endLife,
    'agent.deleted': endLife,
  };

  function endLife(event: Event): void {
    const { aid, registered_at } = payloadOf(AgentEventSchema, event);
    for (const radio of hub.byAgent(aid)) if (isOf(radio, registered_at)) hub.close(radio, 'token_expired');
  }

  let wasLive = false;
  return bus.watch({
    subjects: [
      'acsp.events.radio.opened',
      'acsp.events.watch.changed',
      'acsp.messaging.channel.left',
      'acsp.identity.agent.revoked',
      'acsp.identity.agent.deleted',
    ],
    handle: (event) => changes[event.type]?.(event),
    onLive(live) {
      const now = Date.now();
      if (live && wasLive)
        for (const radio of hub.all()) radio.endsAt = Math.min(radio.endsAt, now + Math.random() * renewWithinMs);
      wasLive ||= live;
    },
  });
}
