import { GetInboxRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { AppError } from '@acsp/errors';
import { aid, byAnyone, fieldsOf, oneOf, queryInteger } from '@acsp/operation';
import type { Context } from '../context.js';
import { type MessageRow, maxContentBytes, messageColumns, presentItem } from '../direct/present.js';
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
    const [box = empty] = await database.query<Box>(
      isOwner ? pageQuery({ aid, limit, offset, unread }) : countQuery(aid),
    );
    const counts = { aid, count: box.total, unread_count: box.unread };
    if (!isOwner) return { ...counts, messages: [], requests: [], total: null, has_more: null };
    const total = unread ? box.unread : box.total;
    const messages = box.items?.map(presentItem) ?? [];
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
  readonly total: number;
  readonly unread: number;
  readonly items: readonly MessageRow[] | null;
}

const empty: Box = { total: 0, unread: 0, items: null };

const countQuery = (aid: string) => Prisma.sql`SELECT total, unread, NULL AS items FROM mailbox WHERE aid = ${aid}`;

// Everything up to read_to is read, whatever the row says.
const isUnread = Prisma.raw('AND NOT read AND created_at > box.read_to');
const columns = Prisma.raw(messageColumns.replace(' read,', ' read OR created_at <= box.read_to AS read,'));

/** Counts and items of one moment, in one round trip. Contents of 6 MiB as JSON are the most that a page has, so that the answer stays below 8. */
const pageQuery = ({ aid, limit, offset, unread }: Page) => Prisma.sql`
  SELECT total, unread, (
    SELECT json_agg(row_to_json(item)) FROM (
      SELECT * FROM (
        SELECT *, sum(octet_length(to_json(content)::text)) OVER (ORDER BY created_at DESC, id DESC) AS bytes FROM (
          SELECT ${columns} FROM message WHERE to_aid = box.aid ${unread ? isUnread : Prisma.empty}
          ORDER BY created_at DESC, id DESC LIMIT ${limit}::int OFFSET ${offset}::int
        ) AS page
      ) AS measured WHERE bytes <= ${maxContentBytes}::int ORDER BY created_at DESC, id DESC
    ) AS item
  ) AS items FROM mailbox AS box WHERE aid = ${aid}`;
