import type { NewMessage } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import type { Context } from '../context.js';
import { toFeed } from './to-feed.js';

/** A statement, or what is in flight to the broker, stays within this many messages. */
const chunk = 500;
const writer = 'feeds';

/**
 * Writes the events of the bus to the feeds of their audience, in order. The position is saved behind each batch; a batch that comes again after a
 * crash in between is known by the ids of its events.
 */
export async function writeFeeds({ bus, database, log }: Context, signal: AbortSignal): Promise<void> {
  const { feedPosition } = database.prisma;
  const saved = await feedPosition.findUnique({ where: { writer } });
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
    await feedPosition.upsert({ where: { writer }, create: { writer, position }, update: { position } });
  };
  await bus.readFrom(saved?.position, take, signal);
}
