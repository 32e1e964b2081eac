import { GetInboxRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import type { BatchStatement } from '@acsp/database';
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
    if (!isOwner) {
      const [counted] = await database.query<Counts>(countQuery(aid));
      return { ...countsOf(aid, counted), ...withheld };
    }
    const box = await readPage(database, unread ? unreadPages : pages, { aid, take: limit, skip: offset });
    const counts = countsOf(aid, box);
    const total = unread ? counts.unread_count : counts.count;
    const messages = box?.items?.map(presentItem) ?? [];
    const requests = messages.filter(({ msg_type }) => msg_type === 'request');
    return { ...counts, messages, requests, total, has_more: offset + messages.length < total };
  },
);

interface Page {
  readonly aid: string;
  readonly take: number;
  readonly skip: number;
}

interface Counts {
  readonly box_total: number;
  readonly box_unread: number;
}

interface Box extends Counts {
  readonly items: readonly ItemRow[] | null;
}

/** A row as PostgreSQL's json functions give it: times are text. */
type ItemRow = Omit<MessageRow, 'created_at'> & { readonly created_at: string };

const presentItem = (row: ItemRow) => presentMessage({ ...row, created_at: new Date(row.created_at) });

const withheld = { messages: [], requests: [], total: null, has_more: null };

const countsOf = (aid: string, box: Counts | undefined) => ({
  aid,
  count: box?.box_total ?? 0,
  unread_count: box?.box_unread ?? 0,
});

const counted = 'box.total AS box_total, box.unread AS box_unread';

const countQuery = (aid: string) => Prisma.sql`SELECT ${Prisma.raw(counted)} FROM mailbox AS box WHERE aid = ${aid}`;

// Everything up to read_to is read, whatever the row says.
const isUnread = 'AND NOT read AND created_at > box.read_to';
const columns = messageColumns.replace(' read,', ' read OR created_at <= box.read_to AS read,');

type PageStatement = BatchStatement<Page & { readonly key: string }, Box>;

/**
 * Counts and items of one moment. Pages that are read at the same time share a statement, whose start costs as much as a page: a third of the CPU
 * time of a request. They are few in one, because each may have 1 MiB of contents, which is 6 as JSON.
 */
const pageStatement = (condition: string): PageStatement => ({
  name: 'read inbox',
  columns: { key: 'text', aid: 'text', take: 'int', skip: 'int' },
  key: ({ key }) => key,
  readOnly: true,
  maxInputs: 8,
  text: `
    SELECT input.key, ${counted}, (
      SELECT json_agg(row_to_json(item)) FROM (
        SELECT ${messageColumns} FROM (
          SELECT ${messageColumns}, sum(octet_length(content)) OVER (ORDER BY created_at DESC, id DESC) AS bytes FROM (
            SELECT ${columns} FROM message WHERE to_aid = box.aid ${condition}
            ORDER BY created_at DESC, id DESC LIMIT input.take OFFSET input.skip
          ) AS page
        ) AS measured WHERE bytes <= ${maxContentBytes} ORDER BY created_at DESC, id DESC
      ) AS item
    ) AS items FROM input JOIN mailbox AS box USING (aid)`,
});

const pages = pageStatement('');
const unreadPages = pageStatement(isUnread);

/** PostgreSQL reads and drops all items before a page. */
const maxShallow = 200;

/** A deep page is read by itself, and must not hold the connection of batches, for which look-ups by key wait. */
async function readPage({ batch, read }: Context['database'], statement: PageStatement, page: Page) {
  const { aid, take, skip } = page;
  if (skip <= maxShallow) return batch(statement, { ...page, key: [aid, take, skip].join(' ') });
  const text = `WITH input AS (SELECT '' AS key, $1 AS aid, $2::int AS take, $3::int AS skip) ${statement.text}`;
  const [box] = await read(`inbox of ${aid}`, (query) => query<Box>({ text, values: [aid, take, skip] }));
  return box;
}
