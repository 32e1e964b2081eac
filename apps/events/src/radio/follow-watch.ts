import type { Context } from '../context.js';
import { presenceFeeds } from '../feed/names.js';
import type { Hub } from './hub.js';
import { markStale, type Radio } from './radio.js';

type Surroundings = Pick<Context, 'database' | 'log'> & { readonly hub: Hub };

/**
 * Lets the open streams of an agent hear those whom it watches now, and resolves once they do. It may be called in any order and at the same time: the row
 * says who is watched, so that an older change which comes late takes nothing back.
 */
export async function followWatch(surroundings: Surroundings, aid: string): Promise<void> {
  const watching = surroundings.hub.byAgent(aid).filter((radio) => !markStale(radio) && radio.watch_id !== undefined);
  await Promise.all(
    watching.map((radio) => {
      radio.renewing ??= renew(surroundings, radio);
      return radio.renewing;
    }),
  );
}

async function renew({ database, hub, log }: Surroundings, radio: Radio): Promise<void> {
  const { aid, since } = radio;
  try {
    do {
      radio.stale = false;
      const watch = await database.prisma.presenceWatch.findUnique({ where: { aid_since: { aid, since } } });
      if (radio.closed) return;
      const others = radio.feeds.filter((name) => !name.startsWith('presence:'));
      await hub.resubscribe(radio, [...others, ...presenceFeeds(watch?.watch_aids ?? [])]);
    } while (radio.stale && !radio.closed);
  } catch (error) {
    log.warn({ err: error, aid }, 'a stream cannot hear other feeds and has to resume');
    hub.close(radio, 'shutdown');
  } finally {
    radio.renewing = undefined;
  }
}
