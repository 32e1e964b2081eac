import type { Postgres } from '@acsp/database';

const batchRows = 2_000;

const statements = [
  `DELETE FROM store.entry WHERE key IN (
    SELECT key FROM store.entry WHERE expires_at <= now() LIMIT ${batchRows} FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM store.counter WHERE key IN (
    SELECT key FROM store.counter WHERE resets_at <= now() LIMIT ${batchRows} FOR UPDATE SKIP LOCKED)`,
];

/** Deletes expired entries and counters, in batches that hold no lock for long; safe in any number of processes at once. */
export async function deleteExpired(pool: Postgres['pool'], signal: AbortSignal): Promise<void> {
  for (const statement of statements) {
    for (let deleted = batchRows; deleted === batchRows && !signal.aborted; ) {
      deleted = (await pool.query(statement)).rowCount ?? 0;
    }
  }
}
