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
  /** Keeps a page that was just published in place of the one before it: all followers read it next. An empty one clears it. */
  keep(page: readonly StoredMessage[]): void;
}

export const pageSize = 100;
/** A larger page is not kept in memory. */
const maxPageBytes = 2 ** 20;

const afterPosition = {
  name: 'read-after',
  text: `SELECT position, subject, event, traceparent FROM bus.messages WHERE position > $1 ORDER BY position LIMIT ${pageSize}`,
};

export function storedMessages(pool: pg.Pool): StoredMessages {
  const none = { after: -1n, page: [] };
  let kept: { readonly after: bigint; readonly page: readonly StoredMessage[] } = none;
  return {
    async after(position) {
      if (BigInt(position) === kept.after) return kept.page;
      return (await pool.query<StoredMessage>({ ...afterPosition, values: [position] })).rows;
    },
    async last() {
      const { rows } = await pool.query<{ position: string }>(
        'SELECT coalesce(max(position), 0)::text AS position FROM bus.messages',
      );
      return rows[0]?.position ?? '0';
    },
    keep(page) {
      const before = (index: number) => BigInt(page[index]?.position ?? 0) - 1n;
      const bytes = page.reduce((sum, { event }) => sum + event.length, 0);
      // Publishing takes positions under an advisory lock: positions without a gap have nothing of another process between them.
      const isGapless = before(page.length - 1) === before(0) + BigInt(page.length - 1);
      if (page.length === 0 || !isGapless || bytes > maxPageBytes) kept = none;
      // The answers of two connections may come in the other order than their commits. A follower that took an older page for all there is
      // would wait for the next poll.
      else if (before(0) > kept.after) kept = { after: before(0), page };
    },
  };
}
