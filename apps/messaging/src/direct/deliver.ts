import type { Transaction } from '@acsp/database';
import { events } from '../events.js';
import type { Mailbox, PrismaClient } from '../generated/prisma/client.js';
import { noticeEvent } from './notice-event.js';
import { type Letter, plain } from './send.js';

type Notice = Pick<Letter, 'id' | 'to_aid' | 'content'> & { readonly metadata: Readonly<Record<string, string>> };

/**
 * Puts a notice of the service itself into a mailbox, in the transaction of what it tells of. It comes last there, because `send` tries again and
 * again while the mailbox is locked.
 */
export async function deliver(tx: Transaction<PrismaClient>, notice: Notice, now: Date): Promise<void> {
  const { id, to_aid, content } = notice;
  const [box] = await tx.$queryRaw<Pick<Mailbox, 'last_at'>[]>`
    INSERT INTO mailbox AS box (aid, total, unread, last_at) VALUES (${to_aid}, 1, 1, ${now}::timestamptz)
    ON CONFLICT (aid) DO UPDATE SET total = box.total + 1, unread = box.unread + 1, last_at = greatest(box.last_at, excluded.last_at)
    RETURNING last_at`;
  const sender = { from_aid: null, from_name: 'acsp', msg_type: 'system' } as const;
  await tx.message.create({ data: { ...plain, ...sender, ...notice, created_at: box?.last_at ?? now } });
  await events.emit(tx, noticeEvent({ ...sender, id, to_aid, content, match_score: null }));
}
