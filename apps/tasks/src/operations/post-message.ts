import { type EventRow, eventColumns, insertEvents } from '@acsp/bus';
import { PostMessageRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { type AnswerRow, answerColumns, answerRow, asRepeated, type BatchStatement, keepAnswers, newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { type Agent, type Call, fieldsOf, oneOf, text } from '@acsp/operation';
import { pause } from '@acsp/time';
import type { JsonObject } from '@bufbuild/protobuf';
import type { z } from 'zod';
import type { Context } from '../context.js';
import { taskEvent } from '../task/change-row.js';
import { refuseMessage } from '../task/decide.js';
import { callerAid, taskId, taskMetadata } from '../task/fields.js';
import { readTask } from '../task/known-tasks.js';

type Input = z.infer<typeof postMessageInput>;

const patienceMs = 4_000;

/** Writes in the thread of a task: its creator, its assigned agent, or an agent with a live claim. */
export async function postMessage(context: Context, input: Input, sender: Agent, call: Call) {
  const { aid: _aid, task_id, ...message } = input;
  const until = Math.min(call.deadline, Date.now() + patienceMs);
  for (let attempt = 1; Date.now() < until; attempt += 1) {
    const at = context.clock.now();
    const task = await readTask(context, task_id);
    if (task === undefined) throw new AppError('TASK_NOT_FOUND');
    const refused = refuseMessage(task, sender.aid, at);
    if (refused !== undefined) throw new AppError(refused);
    const id = newId();
    const answer = { id, task_id, sender_aid: sender.aid, msg_type: input.msg_type, content: input.content, created_at: at };
    const about = { before: task, after: task, claim_id: null, actor: sender.aid, message_id: id, at } as const;
    const row = {
      ...{ ...message, id, task_id, version: task.version, sender_aid: sender.aid, sender_name: sender.name, created_at: at },
      ...taskEvent({ ...about, type: 'task.message_posted' }),
      ...answerRow(call.once, answer),
    };
    if ((await context.database.batch(posting, row).catch(asRepeated)) !== undefined) return answer;
    await pause(Math.random() * Math.min(2 ** attempt, 50), call.signal);
  }
  throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The task is changing too fast, or is locked' });
}

interface Post extends EventRow, AnswerRow {
  readonly id: string;
  readonly task_id: string;
  /** The task as it was when the rules were asked. */
  readonly version: number;
  readonly sender_aid: string;
  readonly sender_name: string;
  readonly msg_type: Input['msg_type'];
  readonly content: string;
  readonly metadata: JsonObject;
  readonly created_at: Date;
}

/** The lock is shared: posts do not wait for one another, and no change of the task's state slips in between. */
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
  key: ({ task_id }) => task_id,
  text: `
    , locked AS (
      SELECT task.id FROM input JOIN task ON task.id = input.task_id AND task.version = input.version
      FOR SHARE OF task SKIP LOCKED
    ),
    post AS (SELECT input.* FROM input JOIN locked ON locked.id = input.task_id),
    posted AS (
      INSERT INTO message (id, task_id, sender_aid, sender_name, msg_type, content, metadata, created_at)
      SELECT id, task_id, sender_aid, sender_name, msg_type, content, metadata, created_at FROM post
    ),
    ${insertEvents('post')},
    ${keepAnswers('post')}
    SELECT task_id AS key FROM post`,
};

export const postMessageInput = fieldsOf(PostMessageRequestSchema)({
  aid: callerAid,
  task_id: taskId,
  content: text({ max: 4096, missing: 'MISSING_CONTENT', code: 'INVALID_CONTENT', clean: true }),
  msg_type: oneOf(['comment', 'status_update', 'question', 'result']).default('comment'),
  metadata: taskMetadata.default({}),
});
