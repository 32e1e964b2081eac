import type { Log } from '@acsp/telemetry';
import { keepRunning, pause, within } from '@acsp/time';
import { connectPostgres, type PostgresConnection } from './connect-postgres.js';
import { fromText, toText } from './postgres-text.js';
import { maxWindows, type Windows } from './windows.js';

export interface KeptWindows extends AsyncDisposable {
  /**
   * Resolves when the windows of the process before are there, or two seconds after the first call: a start may take longer, and until it is done
   * nobody asks. Then it goes on without them until they come. Never rejects.
   */
  restored(): Promise<void>;
}

const restoreWithinMs = 2_000;
const writeEveryMs = 200;
const rowsAWrite = 5_000;

/**
 * Keeps windows in PostgreSQL, so that a limit survives `kill -9` of this process. They are written behind, because a limit must cost a request
 * nothing: what was counted in the last 200 ms, or since PostgreSQL went away, may be lost.
 */
export function keepWindows(windows: Windows, databaseUrl: string, log: Log): KeptWindows {
  const postgres = connectPostgres(databaseUrl, log);
  let isRestored = false;
  let setRestored = () => {};
  const restored = new Promise<void>((resolve) => {
    setRestored = resolve;
  });
  const work = keepRunning('limits in PostgreSQL', log, async (signal) => {
    if (!isRestored) await restore(windows, postgres.resource);
    isRestored = true;
    setRestored();
    while (!signal.aborted) {
      await pause(writeEveryMs, signal);
      await write(windows, postgres.resource);
    }
  });
  let inTime: Promise<void> | undefined;
  return {
    restored() {
      inTime ??= within(restoreWithinMs, 'Restoring limits', restored).catch(() => {});
      return inTime;
    },
    async [Symbol.asyncDispose]() {
      await work[Symbol.asyncDispose]();
      if (isRestored) await write(windows, postgres.resource).catch(() => {});
      await postgres[Symbol.asyncDispose]();
    },
  };
}

interface CounterRow {
  readonly key: string;
  readonly count: number;
  readonly left_ms: number;
}

const select = `SELECT key, count, (extract(epoch FROM resets_at - now()) * 1000)::float8 AS left_ms
  FROM store.counter WHERE resets_at > now() ORDER BY resets_at DESC LIMIT ${maxWindows}`;

async function restore(windows: Windows, { opened, pool }: PostgresConnection): Promise<void> {
  await opened();
  const { rows } = await pool.query<CounterRow>(select);
  const now = performance.now();
  for (const { key, count, left_ms } of rows) windows.restore(fromText(key), { count, endsAt: now + left_ms });
}

/** Rows are locked in key order, so two processes cannot deadlock. Rows carry the time left, because clocks differ. */
const upsert = `INSERT INTO store.counter (key, count, resets_at)
  SELECT key, count, now() + left_ms * interval '1 millisecond'
  FROM json_to_recordset($1::json) AS input (key text, count integer, left_ms float8) ORDER BY key
  ON CONFLICT (key) DO UPDATE SET count = excluded.count, resets_at = excluded.resets_at`;

async function write(windows: Windows, { pool }: PostgresConnection): Promise<void> {
  const changed = windows.changed(rowsAWrite);
  if (changed.length === 0) return;
  const now = performance.now();
  const rows = changed.map(([place, { count, endsAt }]) => ({ key: toText(place), count, left_ms: endsAt - now }));
  try {
    await pool.query(upsert, [JSON.stringify(rows satisfies CounterRow[])]);
  } catch (error) {
    windows.keepChanged(changed.map(([place]) => place));
    throw error;
  }
}
