import { newId } from '@acsp/database';
import type { Life } from '@acsp/operation';
import type { Context } from '../context.js';
import { presenceFeed } from '../feed/names.js';
import { readAnnounced, readSeen, writeAnnounced } from './records.js';
import { type Announcement, decideAnnouncement, type Status, statusAt } from './rules.js';

/** An announcement that is due. */
interface Pending {
  readonly life: Life;
  readonly status: Status;
  readonly last_seen: Date | null;
  readonly announcement: Exclude<Announcement, 'nothing'>;
}

/**
 * The lock has no owner: a holder that outlives it deletes that of the next one. This is longer than its three steps, a read of the store, the feed,
 * and a write to the store, each of which PostgreSQL ends after 5 s. A holder that died keeps an agent's changes waiting for so long.
 */
const lockSeconds = 20;
const maxRounds = 5;

/**
 * Writes to the feed of each agent what its watchers do not know yet. One process at a time does so for an agent, and looks again when it has done:
 * a status that was written meanwhile is announced by its writer or by the one that was busy, so the last in the feed is the last that was set.
 * Answers those that somebody else is busy with. Rejects while the feed is away; calling it again makes up for it.
 */
export async function announce(context: Context, lives: readonly Life[]): Promise<Life[]> {
  const busy: Life[] = [];
  let left = lives;
  for (let round = 0; left.length > 0 && round < maxRounds; round += 1) {
    const pending = await findPending(context, left);
    const locked = await Promise.all(pending.map(({ life }) => lock(context, life)));
    busy.push(...pending.flatMap(({ life }, index) => (locked[index] ? [] : life)));
    left = pending.flatMap(({ life }, index) => (locked[index] ? life : []));
    await announceLocked(context, left);
  }
  return [...busy, ...left];
}

const lockKey = ({ aid }: Life) => `announcing ${aid}`;
const lock = ({ store }: Context, life: Life) => store.add(lockKey(life), '', lockSeconds);

async function announceLocked(context: Context, lives: readonly Life[]): Promise<void> {
  try {
    // Another process may have announced it before this one had the lock.
    const pending = await findPending(context, lives);
    const now = context.clock.now();
    const news = pending.filter(({ announcement }) => announcement === 'announce');
    await context.bus.feed.append(
      news.map(({ life: { aid }, status, last_seen }) => ({
        ...{ feed: presenceFeed(aid), id: newId(), event: 'presence', created_at: now },
        data: JSON.stringify({ aid, status, last_seen }),
      })),
    );
    await Promise.all(pending.map(({ life, status }) => writeAnnounced(context, life, { status, since: life.since })));
  } finally {
    await Promise.all(lives.map((life) => context.store.delete(lockKey(life))));
  }
}

async function findPending(context: Context, lives: readonly Life[]): Promise<Pending[]> {
  const now = context.clock.now();
  const found = await Promise.all(
    lives.map(async (life) => {
      const [seen, before] = await Promise.all([readSeen(context, life), readAnnounced(context, life)]);
      const status = statusAt(now, seen);
      const announcement = decideAnnouncement({ status, since: life.since }, before);
      return { life, status, last_seen: seen?.last_seen ?? null, announcement };
    }),
  );
  return found.filter((one): one is Pending => one.announcement !== 'nothing');
}
