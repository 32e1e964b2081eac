import type { Event } from '@acsp/contracts/events/v1/event';
import { deleteExpiredPeriodically, type Postgres } from '@acsp/database';
import type { Log } from '@acsp/telemetry';
import { createWake, orAborted, pause, type Wake } from '@acsp/time';
import type pg from 'pg';
import type { Bus } from './bus.js';
import type { Payloads } from './events.js';
import { createLag, type Lag, outboxLag, outboxWaiting, parked, published } from './metrics.js';
import { expiredEvents, type OutboxRow, toEvent } from './outbox.js';
import { createScanStart, type ScanStart } from './scan-start.js';

export interface RelayOptions {
  /** The service's database. */
  readonly database: Pick<Postgres, 'pool' | 'session' | 'migrated' | 'ping'>;
  readonly bus: Bus;
  /** The service's name in the subjects. */
  readonly service: string;
  readonly payloads: Payloads;
  readonly log: Log;
}

export interface Relay extends AsyncDisposable {
  /** Call it after a commit that emitted something. Cheap; without it the event leaves within a second. */
  wake(): void;
}

const channel = 'bus_outbox';
const batchSize = 500;
const pollMs = 1_000;
/**
 * After a publication the relay waits half a millisecond for each of its events, up to this, so that those which follow share a batch. Few events
 * leave at once; from two thousand a second on, batches grow until the pause is at its longest. With 10 ms always, half of all events would wait for it.
 */
const mostGatherMs = 10;
/** Commits within this time share one notification. */
const notifyAfterMs = 5;
/** While the broker is away the relay gives up and begins again, and its lag must not flap. */
const lagGraceMs = 10_000;

/**
 * Publishes what is committed in the outbox, in order. One of a service's replicas publishes while the others stand by.
 * Disposing publishes what is there.
 */
export function startRelay(options: RelayOptions): Relay {
  const { database, bus, service, log } = options;
  const wake = createWake();
  const lag = createLag(outboxLag, { service }, outboxWaiting);
  let leads = false;
  const leading = database.session.lead(`relay of ${service}`, async (client, signal) => {
    await orAborted(database.migrated, signal);
    leads = true;
    let graceMs = 0;
    const publish = (events: Event[]) =>
      bus.publish(service, events).catch((error) => {
        graceMs = lagGraceMs;
        throw error;
      });
    const countWaiting = createWaitingCount(client);
    await publishAll(client, { ...options, publish, wake, lag, countWaiting, signal }).finally(() => {
      leads = false;
      lag.end(signal.aborted ? 0 : graceMs);
    });
  });
  const listening = database.session.listen(channel, wake.wake);
  const expiry = deleteExpiredPeriodically(database, { name: 'old events', rows: expiredEvents, log });
  const notify = createNotifier(database.pool);
  return {
    wake: () => (leads ? wake.wake() : notify()),
    async [Symbol.asyncDispose]() {
      await Promise.all([expiry, listening].map((work) => work[Symbol.asyncDispose]()));
      const stopped = leading[Symbol.asyncDispose]();
      wake.wake();
      await stopped;
      lag.end();
    },
  };
}

interface Publishing extends Omit<RelayOptions, 'bus'> {
  readonly publish: (events: Event[]) => Promise<void>;
  readonly wake: Wake;
  readonly lag: Lag;
  /** How many rows are unpublished; for metrics, where there are more than one batch. */
  readonly countWaiting: () => Promise<number>;
  readonly signal: AbortSignal;
}

async function publishAll(client: pg.Client, options: Publishing): Promise<void> {
  const { wake, signal } = options;
  // A plan is made once, perhaps while the table is small, and would then read it whole for every batch, however large it has become.
  await client.query('SET enable_seqscan = off');
  const scanStart = createScanStart(client);
  for (let ending = false; !ending; ) {
    ending = signal.aborted;
    let found = await publishBatch(client, scanStart, options);
    while (found === batchSize) found = await publishBatch(client, scanStart, options);
    const gatherMs = Math.min(found >> 1, mostGatherMs);
    if (gatherMs > 0 && !ending) await pause(gatherMs, signal);
    if (!ending) await wake.wait(pollMs);
  }
}

// Rows of one aggregate are in order although a transaction may commit after a later one that took a higher position, because its row lock makes
// their transactions follow each other.
const unpublished = {
  name: 'unpublished',
  text: `SELECT position, id, type, occurred_at, audience, actor, payload
    FROM bus.outbox WHERE published_at IS NULL AND position > $1 ORDER BY position LIMIT ${batchSize}`,
};

/** Counts once a second at most: a relay that catches up reads a batch every few milliseconds. */
function createWaitingCount(client: pg.Client): () => Promise<number> {
  let [count, countedAt] = [0, Number.NEGATIVE_INFINITY];
  return async () => {
    if (performance.now() - countedAt < 1_000) return count;
    const { rows } = await client.query<{ count: number }>(
      'SELECT count(*)::int FROM (SELECT FROM bus.outbox WHERE published_at IS NULL LIMIT 100000) AS waiting',
    );
    [count, countedAt] = [rows[0]?.count ?? 0, performance.now()];
    return count;
  };
}

// The commit does not wait for the disk: after a crash that loses the mark, the event is published again under the same id.
const mark = {
  name: 'mark',
  text: `UPDATE bus.outbox SET published_at = CASE WHEN position = ANY ($2::bigint[]) THEN 'infinity' ELSE now() END
    WHERE published_at IS NULL AND position = ANY ($1::bigint[] || $2::bigint[])
      AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'`,
};

/** Answers the number of rows that were there. */
async function publishBatch(client: pg.Client, scanStart: ScanStart, publishing: Publishing): Promise<number> {
  const { publish, service, payloads, lag, log, countWaiting } = publishing;
  const { rows } = await client.query<OutboxRow>({ ...unpublished, values: [await scanStart.next()] });
  const [oldest] = rows;
  lag.at(oldest?.occurred_at, rows.length < batchSize ? rows.length : await countWaiting());
  if (oldest === undefined) {
    scanStart.published([], true);
    return 0;
  }
  const events: Event[] = [];
  const usable: string[] = [];
  const unusable: string[] = [];
  for (const row of rows) {
    try {
      events.push(toEvent(row, payloads));
      usable.push(row.position);
    } catch (error) {
      // Waiting would hold up every event behind it, for ever.
      log.error({ err: error, event: row.id, type: row.type }, 'an event cannot be published and is parked');
      unusable.push(row.position);
    }
  }
  await publish(events);
  await client.query({ ...mark, values: [usable, unusable] });
  published.inc({ service }, usable.length);
  parked.inc({ service }, unusable.length);
  scanStart.published(
    rows.map(({ position }) => position),
    rows.length < batchSize,
  );
  return rows.length;
}

/** Wakes the replica that publishes. The NOTIFY stays outside of the transactions, because inside it makes commits wait for each other. */
function createNotifier(pool: pg.Pool): () => void {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    setTimeout(() => {
      planned = false;
      // When it fails, the poll does the same within a second.
      pool.query('SELECT pg_notify($1, $2)', [channel, '']).catch(() => {});
    }, notifyAfterMs).unref();
  };
}
