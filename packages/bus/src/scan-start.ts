import type pg from 'pg';

/**
 * The low-water mark of the relay: where its scans begin. Published rows leave dead entries in its index until the next vacuum, and a scan from the
 * first position walks over all of them: 1.4 ms a scan in place of 0.3 after twelve seconds of load.
 */
export interface ScanStart {
  /** The position behind which the next scan reads. Once a second it is 0, for rows that an operator has replayed. */
  next(): Promise<string>;
  /** Call it when what a scan has found is published: its positions in order, and whether there was no more. */
  published(positions: readonly string[], isAll: boolean): void;
}

const fullScanMs = 1_000;

/** A transaction holds this lock from before it takes a position until it ends. */
const openWriters = {
  name: 'open-writers',
  text: `SELECT virtualtransaction AS id FROM pg_locks
  WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND relation = 'bus.outbox'::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
};

/**
 * A transaction may commit a position that is lower than those published already. So a position becomes the start once all transactions have ended
 * that were open after it had been seen, and a scan from 0 has then found what they left.
 */
export function createScanStart(client: pg.Client | pg.Pool, nowMs: () => number = () => performance.now()): ScanStart {
  let [start, settled, seen] = [0n, 0n, 0n];
  let candidate = { position: 0n, writers: new Set<string>() };
  let fullScanAt = Number.NEGATIVE_INFINITY;
  let isFull = true;
  return {
    async next() {
      isFull = nowMs() - fullScanAt >= fullScanMs;
      if (!isFull) return String(start);
      fullScanAt = nowMs();
      const { rows } = await client.query<{ id: string }>(openWriters);
      if (!rows.some(({ id }) => candidate.writers.has(id))) settled = candidate.position;
      candidate = { position: seen, writers: new Set(rows.map(({ id }) => id)) };
      return '0';
    },
    published(positions, isAll) {
      const [lowest, highest] = [BigInt(positions[0] ?? 0), BigInt(positions.at(-1) ?? 0)];
      if (highest > seen) seen = highest;
      if (isFull && isAll) start = settled;
      // An operator refills a broker: more replayed rows than one scan takes.
      else if (isFull && lowest <= start) start = 0n;
    },
  };
}
