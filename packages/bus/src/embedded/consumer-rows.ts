import type pg from 'pg';
import type { StoredMessage } from './stored-message.js';

/** The statements of one consumer, on the connection that holds its lock. */
export interface ConsumerRows {
  /** Creates the consumer, or answers how far it has come. */
  start(): Promise<string>;
  save(position: string): Promise<void>;
  /** Retries whose time has come, in order. */
  due(): Promise<StoredMessage[]>;
  /** Milliseconds until the next retry; Infinity without one. */
  untilDue(): Promise<number>;
  retried(position: string): Promise<void>;
  retryLater(message: StoredMessage, delayMs: number): Promise<void>;
  bury(message: StoredMessage, error: string): Promise<void>;
}

export function consumerRows(client: pg.Client, name: string): ConsumerRows {
  const rows = async <R extends pg.QueryResultRow>(text: string, ...values: unknown[]) =>
    (await client.query<R>(text, [name, ...values])).rows;
  return {
    async start() {
      const [row] = await rows<{ position: string }>(`INSERT INTO bus.consumers (name) VALUES ($1)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING position`);
      return row?.position ?? '0';
    },
    async save(position) {
      await rows('UPDATE bus.consumers SET position = $2 WHERE name = $1', position);
    },
    due: () =>
      rows<StoredMessage>(`SELECT position, subject, event, attempts, 0 AS behind
        FROM bus.retries JOIN bus.messages USING (position)
        WHERE consumer = $1 AND due_at <= now() ORDER BY position LIMIT 100`),
    async untilDue() {
      const [row] = await rows<{
        ms: number | null;
      }>(`SELECT (extract(epoch FROM min(due_at) - now()) * 1000)::float8 AS ms
        FROM bus.retries WHERE consumer = $1`);
      return row?.ms ?? Number.POSITIVE_INFINITY;
    },
    async retried(position) {
      await rows('DELETE FROM bus.retries WHERE consumer = $1 AND position = $2', position);
    },
    async retryLater({ position, attempts }, delayMs) {
      await rows(
        `INSERT INTO bus.retries (consumer, position, attempts, due_at)
          VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond')
          ON CONFLICT (consumer, position) DO UPDATE SET attempts = excluded.attempts, due_at = excluded.due_at`,
        ...[position, attempts + 1, delayMs],
      );
    },
    async bury({ position }, error) {
      await rows(
        `WITH given_up AS (DELETE FROM bus.retries WHERE consumer = $1 AND position = $2)
          INSERT INTO bus.dead_letters (consumer, event_id, subject, event, error)
          SELECT $1, id, subject, event, $3 FROM bus.messages WHERE position = $2
          ON CONFLICT DO NOTHING`,
        ...[position, error],
      );
    },
  };
}
