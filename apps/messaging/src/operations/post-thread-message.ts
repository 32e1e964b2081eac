import { PostThreadMessageRequestSchema } from '@acsp/contracts/messaging/v1/threads';
import { newId, type Transaction } from '@acsp/database';
import { byAgent, callerAid, fieldsOf, oneOf } from '@acsp/operation';
import type { Context } from '../context.js';
import type { PrismaClient } from '../generated/prisma/client.js';
import { changeThread, type ThreadParts } from '../thread/change-thread.js';
import { offer, threadId } from '../thread/fields.js';
import { presentMessage } from '../thread/present.js';

/** Offers, counters, accepts, rejects or says something. Messages have the numbers 1, 2, 3 … in the order of their commits. */
export const postThreadMessage = byAgent(
  fieldsOf(PostThreadMessageRequestSchema)({
    aid: callerAid,
    thread_id: threadId,
    message_type: oneOf(['offer', 'counter', 'accept', 'reject', 'info'], 'INVALID_FIELD', 'MISSING_FIELDS'),
    payload: offer,
  }),
  (context: Context, { thread_id, message_type, payload }, { aid }, call) => {
    const acted = { thread_id, aid, action: message_type };
    const finish = async (tx: Transaction<PrismaClient>, thread: ThreadParts) => {
      const { messages_count: number, updated_at: created_at, status } = thread;
      const message = { thread_id, number, id: newId(), sender_aid: aid, message_type, payload, created_at };
      await tx.threadMessage.create({ data: message });
      return { ...presentMessage(message), status };
    };
    return changeThread(context, { acted, finish }, call);
  },
);
