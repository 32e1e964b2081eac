import type pg from 'pg';

export interface StoredMessage {
  /** A bigint, in decimal. */
  readonly position: string;
  readonly subject: string;
  readonly event: Uint8Array;
  readonly traceparent: string | null;
}

/** The table of messages, as the followers of one bus read it. */
export interface StoredMessages {
  /** The next messages after a position; fewer than `pageSize` where there are no more. */
  after(position: string): Promise<readonly StoredMessage[]>;
  last(): Promise<string>;
  /** Keeps messages that were just published, in the order of their positions: all followers want them at once. */
  published(messages: readonly StoredMessage[]): void;
}

export const pageSize = 100;
/** The bytes of a page that is kept in memory. */
const maxKept = 2 ** 20;

const afterPosition = {
  name: 'read-after',
  text: `SELECT position, subject, event, traceparent FROM bus.messages WHERE position > $1 ORDER BY position LIMIT ${pageSize}`,
};

export function storedMessages(pool: pg.Pool): StoredMessages {
  let newest: { readonly after: string; readonly page: readonly StoredMessage[] } = { after: '', page: [] };
  return {
    async after(position) {
      if (position === newest.after) return newest.page;
      return (await pool.query<StoredMessage>({ ...afterPosition, values: [position] })).rows;
    },
    async last() {
      const { rows } = await pool.query<{ position: string }>(
        'SELECT coalesce(max(position), 0)::text AS position FROM bus.messages',
      );
      return rows[0]?.position ?? '0';
    },
    published(page) {
      const before = (index: number) => BigInt(page[index]?.position ?? 0) - 1n;
      const bytes = page.reduce((sum, { event }) => sum + event.length, 0);
      // Positions are taken under a lock, so those that follow each other have nothing of another publisher between them.
      const gapless = before(page.length - 1) === before(0) + BigInt(page.length - 1);
      if (gapless && bytes <= maxKept) newest = { after: String(before(0)), page };
    },
  };
}
