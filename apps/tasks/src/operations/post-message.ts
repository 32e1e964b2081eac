import type { PostMessageRequestSchema, PostMessageResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { AppError } from '@acsp/errors';
import { oneOf, text } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import { type RuledTask, ruledColumns } from '../task/columns.js';
import { liveClaim, notOver } from '../task/conditions.js';
import { callerAid, taskId, taskMetadata } from '../task/fields.js';
import { eventRow } from '../task/record.js';
import { refuseMessage } from '../task/state.js';

/** Writes in the thread of a task: its creator, its assigned agent, or an agent with a live claim. */
export async function postMessage(context: Context, request: PostMessage, sender: Agent) {
  const now = context.clock.now();
  const id = uuidv7();
  const [task] = await context.database.query<Attempt>(postStatement({ ...request, id, sender, now }));
  if (task === undefined) throw new AppError('TASK_NOT_FOUND');
  if (!task.posted) throw new AppError(refuseMessage(task, task.holds_live, sender.aid, now) ?? 'TASK_CLOSED');
  return {
    id,
    taskId: request.taskId,
    senderAid: sender.aid,
    msgType: request.msgType,
    content: request.content,
    createdAt: timestampFromDate(now),
  } satisfies MessageInitShape<typeof PostMessageResponseSchema>;
}

type Attempt = RuledTask & { readonly holds_live: boolean; readonly posted: boolean };

interface Post extends PostMessage {
  readonly id: string;
  readonly sender: Agent;
  readonly now: Date;
}

/** The lock is shared: writers do not wait for one another, only for a change of the task's state. */
const postStatement = ({ id, taskId, sender, content, msgType, metadata, now }: Post) => Prisma.sql`
  WITH before AS (SELECT ${ruledColumns('task')}, task.title FROM task WHERE id = ${taskId}::uuid FOR SHARE),
  held AS (${liveClaim(taskId, sender.aid)}),
  posted AS (
    INSERT INTO message (id, task_id, sender_aid, sender_name, msg_type, content, metadata, created_at)
    SELECT ${id}::uuid, id, ${sender.aid}, ${sender.name}, ${msgType}::message_type, ${content}, ${JSON.stringify(metadata)}::jsonb,
      ${now}::timestamptz
    FROM before
    WHERE ${notOver(now)}
      AND (${sender.aid} IN (creator_aid, assigned_aid) OR EXISTS (SELECT FROM held))
    RETURNING id, task_id
  ),
  changed AS (SELECT ${ruledColumns('before')}, title, status AS previous_status, assigned_aid AS previous_assigned_aid FROM before),
  told AS (${eventRow({ event: 'task.message_posted', actorAid: sender.aid, now })})
  SELECT ${ruledColumns('before')}, EXISTS (SELECT FROM held) AS holds_live, EXISTS (SELECT FROM posted) AS posted FROM before`;

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
