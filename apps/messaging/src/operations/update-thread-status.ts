import { UpdateThreadStatusRequestSchema } from '@acsp/contracts/messaging/v1/threads';
import { byAgent, callerAid, fieldsOf, oneOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { changeThread } from '../thread/change-thread.js';
import { threadId } from '../thread/fields.js';
import { publicThreadId } from '../thread/present.js';

const actions = { close: 'close', closed: 'close', expire: 'expire', expired: 'expire' } as const;

/** Closes a thread, or writes down that it has run out. */
export const updateThreadStatus = byAgent(
  fieldsOf(UpdateThreadStatusRequestSchema)({
    aid: callerAid,
    thread_id: threadId,
    new_status: oneOf(['close', 'closed', 'expire', 'expired'], 'INVALID_FIELD', 'MISSING_FIELDS'),
  }),
  (context: Context, { thread_id, new_status }, { aid }, call) =>
    changeThread(
      context,
      {
        acted: { thread_id, aid, action: actions[new_status] },
        finish: async (_tx, { status, updated_at }) => ({ thread_id: publicThreadId(thread_id), status, updated_at }),
      },
      call,
    ),
);
