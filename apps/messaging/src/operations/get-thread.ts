import { GetThreadRequestSchema } from '@acsp/contracts/messaging/v1/threads';
import { AppError } from '@acsp/errors';
import { byAgent, callerAid, fieldsOf, queryInteger } from '@acsp/operation';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import { threadId } from '../thread/fields.js';
import {
  messageColumns,
  presentMessage,
  presentThread,
  type ThreadMessageRow,
  type ThreadRow,
  threadColumns,
} from '../thread/present.js';

/** No thread has so many messages; queryInteger takes nine digits. */
const maxNumber = 999_999_999;

/** A thread and its newest messages, or those before one, in the order of their numbers. */
export const getThread = byAgent(
  fieldsOf(GetThreadRequestSchema)({
    aid: callerAid,
    thread_id: threadId,
    before: queryInteger(1, maxNumber).default(maxNumber),
  }),
  async ({ database, clock }: Context, { thread_id, before }, { aid }) => {
    const [row] = await database.query<Row>(detailsQuery(thread_id, aid, before));
    if (row === undefined) throw new AppError('THREAD_NOT_FOUND');
    const { messages, ...thread } = row;
    return { thread: presentThread(thread, clock.now()), messages: messages?.map(presentMessage) ?? [] };
  },
);

type Row = ThreadRow & { readonly messages: readonly ThreadMessageRow[] | null };

const maxMessages = 500;
/** The payloads' own size, as JSON. */
const maxBytes = 6 * 2 ** 20;

/** Thread and messages of one moment. PostgreSQL reads 8 MiB of payloads at most, because none is over 16 KiB, and answers 6. */
const detailsQuery = (id: string, aid: string, before: number) => Prisma.sql`
  SELECT ${Prisma.raw(threadColumns)}, (
    SELECT json_agg(row_to_json(message) ORDER BY number) FROM (
      SELECT ${columns} FROM (
        SELECT ${columns}, sum(octet_length(payload::text)) OVER (ORDER BY number DESC) AS bytes FROM (
          SELECT ${columns} FROM thread_message WHERE thread_id = thread.id AND number < ${before}::int
          ORDER BY number DESC LIMIT ${maxMessages}::int
        ) AS newest
      ) AS measured WHERE bytes <= ${maxBytes}::int
    ) AS message
  ) AS messages FROM thread WHERE id = ${id}::uuid AND ${aid} IN (initiator_aid, responder_aid)`;

const columns = Prisma.raw(messageColumns);
