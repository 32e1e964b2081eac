import { type EventRow, eventColumns, insertEvents } from '@acsp/bus';
import { PostMessageRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import {
  type AnswerRow,
  answerColumns,
  answerRow,
  type BatchStatement,
  keepAnswers,
  newId,
  untilWritten,
} from '@acsp/database';
import { AppError } from '@acsp/errors';
import { type Agent, byAgent, type Call, callerAid, fieldsOf, oneOf, text } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import type { z } from 'zod';
import type { Context } from '../context.js';
import type { Message } from '../generated/prisma/client.js';
import { taskEvent } from '../task/change-row.js';
import { refuseMessage } from '../task/decide.js';
import { actorOf, taskId, taskMetadata } from '../task/fields.js';
import { readTask } from '../task/known-tasks.js';

const fields = fieldsOf(PostMessageRequestSchema)({
  aid: callerAid,
  task_id: taskId,
  content: text({ max: 4096, missing: 'MISSING_CONTENT', code: 'INVALID_CONTENT', clean: true }),
  msg_type: oneOf(['comment', 'status_update', 'question', 'result']).default('comment'),
  metadata: taskMetadata.default({}),
});

type Input = z.infer<typeof fields>;

/** Writes in the thread of a task: its creator, its assigned agent, or an agent with a live claim. */
export const postMessage = byAgent(fields, (context: Context, input, sender, call) =>
  untilWritten(() => attemptPost(context, input, sender, call), { call }),
);

/** Answers undefined where the task has changed since it was read, or is locked. */
async function attemptPost(context: Context, { aid: _aid, task_id, ...message }: Input, sender: Agent, call: Call) {
  const task = await readTask(context, task_id);
  if (task === undefined) throw new AppError('TASK_NOT_FOUND');
  const at = context.clock.now();
  const refused = refuseMessage(task, actorOf(sender), at);
  if (refused !== undefined) throw new AppError(refused);
  const { content, msg_type } = message;
  const [id, sender_aid] = [newId(), sender.aid];
  const answer = { id, task_id, sender_aid, msg_type, content, created_at: at };
  const about = { before: task, after: task, claim_id: null, actor: sender_aid, message_id: id, at } as const;
  const row: Post = {
    id,
    task_id,
    version: task.version,
    sender_aid,
    sender_name: sender.name,
    created_at: at,
    ...message,
    ...taskEvent({ ...about, type: 'task.message_posted' }),
    ...answerRow(call.once, answer),
  };
  const written = await context.database.batch(posting, row, call);
  return written && answer;
}

interface Post extends Omit<Message, 'position' | 'metadata'>, EventRow, AnswerRow {
  /** The version of the task that the rules were applied to. */
  readonly version: number;
  readonly metadata: JsonObject;
}

/** The lock is shared: posts of one task share a run and do not wait for one another, and no change of the task slips in between. */
const posting: BatchStatement<Post, object> = {
  name: 'post message',
  columns: {
    id: 'uuid',
    task_id: 'uuid',
    version: 'int',
    sender_aid: 'text',
    sender_name: 'text',
    msg_type: 'message_type',
    content: 'text',
    metadata: 'json',
    created_at: 'timestamptz',
    ...eventColumns,
    ...answerColumns,
  },
  key: ({ id }) => id,
  text: `
    , locked AS (
      SELECT id, version FROM task WHERE (id, version) IN (SELECT task_id, version FROM input)
      FOR SHARE SKIP LOCKED
    ),
    post AS (SELECT input.* FROM input JOIN locked ON locked.id = input.task_id AND locked.version = input.version),
    posted AS (
      INSERT INTO message (id, task_id, sender_aid, sender_name, msg_type, content, metadata, created_at)
      SELECT id, task_id, sender_aid, sender_name, msg_type, content, metadata, created_at FROM post
    ),
    ${insertEvents('post')},
    ${keepAnswers('post')}
    SELECT id AS key FROM post`,
};
