import type { PostMessageRequestSchema, PostMessageResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { type BatchStatement, newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { oneOf, text } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import { columnList, type RuledTask, ruledColumns } from '../task/columns.js';
import { holdsLive, notOver } from '../task/conditions.js';
import { callerAid, taskId, taskMetadata } from '../task/fields.js';
import { eventRow, type Happening } from '../task/record.js';
import { refuseMessage } from '../task/state.js';

/** Writes in the thread of a task: its creator, its assigned agent, or an agent with a live claim. */
export async function postMessage({ clock, database }: Context, request: PostMessage, sender: Agent) {
  const [at, id] = [clock.now(), newId()];
  const post: Post = {
    task_id: request.taskId,
    message_id: id,
    event_id: newId(),
    aid: sender.aid,
    name: sender.name,
    msg_type: request.msgType,
    content: request.content,
    metadata: request.metadata,
    at,
  };
  const task = await database.batch(posting, post);
  if (task === undefined) throw new AppError('TASK_NOT_FOUND');
  if (!task.posted) throw new AppError(refuseMessage(task, task.holds_live, sender.aid, at) ?? 'TASK_CLOSED');
  return {
    id,
    taskId: request.taskId,
    senderAid: sender.aid,
    msgType: request.msgType,
    content: request.content,
    createdAt: timestampFromDate(at),
  } satisfies MessageInitShape<typeof PostMessageResponseSchema>;
}

type Attempt = RuledTask & { readonly holds_live: boolean; readonly posted: boolean };

interface Post extends Omit<Happening, 'says' | 'note'> {
  readonly task_id: string;
  readonly name: string;
  readonly msg_type: PostMessage['msgType'];
  readonly content: string;
  readonly metadata: JsonObject;
}

const columns = {
  task_id: 'uuid',
  message_id: 'uuid',
  event_id: 'uuid',
  aid: 'text',
  name: 'text',
  msg_type: 'message_type',
  content: 'text',
  metadata: 'jsonb',
  at: 'timestamptz',
} as const satisfies Record<keyof Post, string>;

/** The lock is shared: writers of several services do not wait for one another, only for a change of the task's state. */
const posting: BatchStatement<Post, Attempt> = {
  columns,
  key: ({ task_id }) => task_id,
  text: Prisma.sql`
    , before AS (
      SELECT ${ruledColumns('task')}, task.title, ${columnList(columns, 'input')}
      FROM input CROSS JOIN LATERAL (
        SELECT ${ruledColumns('task')}, task.title FROM task WHERE task.id = input.task_id FOR SHARE
      ) AS task
    ),
    posted AS (
      INSERT INTO message (id, task_id, sender_aid, sender_name, msg_type, content, metadata, created_at)
      SELECT message_id, id, aid, name, msg_type, content, metadata, at FROM before
      WHERE ${notOver('before', Prisma.sql`before.at`)} AND (before.aid IN (creator_aid, assigned_aid) OR ${holdsLive})
      RETURNING task_id
    ),
    changed AS (
      SELECT ${ruledColumns('before')}, title, status AS previous_status, assigned_aid AS previous_assigned_aid, aid, at, message_id, event_id
      FROM before JOIN posted USING (task_id)
    ),
    told AS (${eventRow({ event: Prisma.sql`'task.message_posted'` })})
    SELECT before.id AS key, ${ruledColumns('before')}, ${holdsLive} AS holds_live, posted.task_id IS NOT NULL AS posted
    FROM before LEFT JOIN posted USING (task_id)`.text,
};

type PostMessage = z.infer<typeof postMessageInput>;

export const postMessageInput = z
  .object({
    aid: callerAid,
    task_id: taskId,
    content: text({ max: 4096, missing: 'MISSING_CONTENT', code: 'INVALID_CONTENT', clean: true }),
    msg_type: oneOf(['comment', 'status_update', 'question', 'result']).default('comment'),
    metadata: taskMetadata.default({}),
  })
  .transform(({ task_id, msg_type, ...same }) => ({
    ...same,
    taskId: task_id,
    msgType: msg_type,
  })) satisfies z.ZodType<MessageInitShape<typeof PostMessageRequestSchema>>;
