import { GetInboxRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { AppError } from '@acsp/errors';
import { aid, byAnyone, fieldsOf, oneOf, queryInteger } from '@acsp/operation';
import type { Context } from '../context.js';
import { type MessageRow, maxContentBytes, messageColumns, presentMessage } from '../direct/present.js';
import { Prisma } from '../generated/prisma/client.js';

/** Incoming messages, notices and search matches, newest first. A caller who only names an AID gets its counts. */
export const getInbox = byAnyone(
  fieldsOf(GetInboxRequestSchema)({
    aid: aid().optional(),
    limit: queryInteger(1, 100).default(20),
    offset: queryInteger(0, 10_000).default(0),
    unread: oneOf(['true', 'false'])
      .default('false')
      .transform((text) => text === 'true'),
  }),
  async ({ database }: Context, { aid: named, limit, offset, unread }, caller) => {
    const isOwner = caller.aid !== undefined;
    if (isOwner && named !== undefined && named !== caller.aid) throw new AppError('AID_MISMATCH');
    const aid = caller.aid ?? caller.claimedAid ?? '';
    if (!isOwner) return { ...countsOf(aid, await database.query<Box>(countQuery(aid))), ...withheld };
    const rows = await database.read(`inbox of ${aid}`, (ask) => ask<Row>(pageQuery({ aid, limit, offset, unread })));
    const counts = countsOf(aid, rows);
    const total = unread ? counts.unread_count : counts.count;
    const messages = rows.filter(isItem).map(presentMessage);
    const requests = messages.filter(({ msg_type }) => msg_type === 'request');
    return { ...counts, messages, requests, total, has_more: offset + messages.length < total };
  },
);

interface Page {
  readonly aid: string;
  readonly limit: number;
  readonly offset: number;
  readonly unread: boolean;
}

interface Box {
  readonly box_total: number;
  readonly box_unread: number;
}

/** An item beside the counts of its mailbox; a page without items has one row all the same. */
type Row = Box & (MessageRow | { readonly id: null });

const isItem = (row: Row): row is Box & MessageRow => row.id !== null;

const withheld = { messages: [], requests: [], total: null, has_more: null };

const countsOf = (aid: string, [box]: readonly Box[]) => ({
  aid,
  count: box?.box_total ?? 0,
  unread_count: box?.box_unread ?? 0,
});

const counted = Prisma.raw('box.total AS box_total, box.unread AS box_unread');

const countQuery = (aid: string) => Prisma.sql`SELECT ${counted} FROM mailbox AS box WHERE aid = ${aid}`;

// Everything up to read_to is read, whatever the row says.
const isUnread = Prisma.raw('AND NOT read AND created_at > box.read_to');
const columns = Prisma.raw(messageColumns.replace(' read,', ' read OR created_at <= box.read_to AS read,'));

/** Counts and items of one moment, in one round trip. */
const pageQuery = ({ aid, limit, offset, unread }: Page) => Prisma.sql`
  SELECT item.*, ${counted} FROM mailbox AS box LEFT JOIN LATERAL (
    SELECT *, sum(octet_length(content)) OVER (ORDER BY created_at DESC, id DESC) AS bytes FROM (
      SELECT ${columns} FROM message WHERE to_aid = box.aid ${unread ? isUnread : Prisma.empty}
      ORDER BY created_at DESC, id DESC LIMIT ${limit}::int OFFSET ${offset}::int
    ) AS page
  ) AS item ON bytes <= ${maxContentBytes}::int
  WHERE aid = ${aid} ORDER BY created_at DESC, item.id DESC`;
