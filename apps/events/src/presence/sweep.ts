import type { Context } from '../context.js';
import { announce } from './announce.js';
import { lifeOfMember, memberOf, readSeen } from './records.js';
import { schedule } from './report.js';
import { statusAt } from './rules.js';

/** A batch is a burst of some hundred commands for the store, behind which heartbeats wait. */
const batchSize = 50;
const maxBatches = 200;

/**
 * Announces agents that are offline because nothing was heard of them, and answers how many they were, each once, whatever the number of sweeps at the
 * same time. An agent stays on the schedule until its watchers know.
 */
export async function sweep(context: Context, signal?: AbortSignal): Promise<number> {
  let swept = 0;
  for (let batch = 0; batch < maxBatches && !signal?.aborted; batch += 1) {
    const { removed, stale } = await sweepBatch(context);
    swept += stale;
    // The rest is busy elsewhere, or not stale by the clock of this process: for the next sweep.
    if (removed < batchSize) break;
  }
  return swept;
}

async function sweepBatch(context: Context) {
  const lives = (await context.store.due(schedule, batchSize)).map(lifeOfMember);
  const now = context.clock.now();
  const seen = await Promise.all(lives.map((life) => readSeen(context, life)));
  const offline = lives.filter((_, index) => statusAt(now, seen[index]) === 'offline');
  const busy = new Set((await announce(context, offline)).map(memberOf));
  const settled = offline.map(memberOf).filter((member) => !busy.has(member));
  const removed = new Set(await context.store.unschedule(schedule, settled));
  const isStale = (index: number) => (seen[index]?.status ?? 'offline') !== 'offline';
  const stale = lives.filter((life, index) => isStale(index) && removed.has(memberOf(life))).length;
  return { removed: removed.size, stale };
}
