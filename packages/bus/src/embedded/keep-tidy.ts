import { keepRunning } from '../keep-running.js';
import { orAborted, pause } from '../pause.js';
import type { Context } from './context.js';

const everyMs = 600_000;

/** As long as the streams of the broker keep theirs. In batches that hold no lock for long. */
const expired = [
  `DELETE FROM bus.messages WHERE position IN (SELECT position FROM bus.messages
    WHERE published_at < now() - interval '7 days' ORDER BY published_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM bus.dead_letters WHERE created_at < now() - interval '30 days'`,
];

export function keepTidy({ pool, migrated, log }: Context): AsyncDisposable {
  return keepRunning('tidying the bus', log, async (signal) => {
    await orAborted(migrated, signal);
    for (const statement of expired) {
      for (let count = 1_000; count === 1_000 && !signal.aborted; ) count = (await pool.query(statement)).rowCount ?? 0;
    }
    await pause(everyMs, signal);
  });
}
