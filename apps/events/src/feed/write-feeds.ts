import type { NewMessage } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import type { Context } from '../context.js';
import { savePosition } from './save-position.js';
import { toFeed } from './to-feed.js';

/** A statement, or what is in flight to the broker, stays within this many messages. */
const chunk = 500;

/**
 * Writes the events of the bus to the feeds of their audience, in order. The position is saved behind them; events that come again after a
 * crash are known by their ids.
 */
export async function writeFeeds({ bus, database, log }: Context, signal: AbortSignal): Promise<void> {
  await using saved = await savePosition({ database }, 'feeds');
  const messagesOf = (event: Event): NewMessage[] => {
    try {
      return toFeed(event);
    } catch (error) {
      // Waiting would hold up every event behind it, for ever.
      log.error(
        { err: error, event: event.id, type: event.type },
        'an event cannot be shown to agents and is left out',
      );
      return [];
    }
  };
  const take = async (events: readonly Event[], position: string) => {
    const messages = events.flatMap(messagesOf);
    for (let from = 0; from < messages.length; from += chunk) await bus.feed.append(messages.slice(from, from + chunk));
    saved.reached(position);
  };
  await bus.readFrom(saved.position, take, signal);
}
