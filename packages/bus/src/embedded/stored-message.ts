import type pg from 'pg';

export interface StoredMessage {
  /** A bigint, in decimal. */
  readonly position: string;
  readonly subject: string;
  readonly event: Buffer;
  readonly traceparent: string | null;
}

const after = {
  name: 'read-after',
  text: 'SELECT position, subject, event, traceparent FROM bus.messages WHERE position > $1 ORDER BY position LIMIT 100',
};

export async function readAfter(database: pg.Pool | pg.Client, position: string): Promise<StoredMessage[]> {
  return (await database.query<StoredMessage>({ ...after, values: [position] })).rows;
}

export async function lastPosition(database: pg.Pool): Promise<string> {
  const { rows } = await database.query<{ position: string }>(
    'SELECT coalesce(max(position), 0)::text AS position FROM bus.messages',
  );
  return rows[0]?.position ?? '0';
}
