import type { UpdateTaskRequestSchema, UpdateTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { AppError } from '@acsp/errors';
import { oneOf } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import { callerAid, remark, taskId } from '../task/fields.js';
import { moveTask, type Step } from '../task/move-task.js';
import { withComment } from '../task/record.js';
import { type Action, actions, decideAction, moves } from '../task/state.js';

/** Moves a task along interface 3.1: start, cancel, approve, reject, unclaim. */
export async function updateTask(context: Context, request: UpdateTask, agent: Agent) {
  const move = (step: (update: Update) => Step) =>
    moveTask(context, step({ ...request, agent, now: context.clock.now() }));
  const { status } = await move(actionStep).catch((error) => {
    // Whoever is not assigned may still have a pending claim to take back.
    const mayHold = request.action === 'unclaim' && error instanceof AppError && error.code === 'PERMISSION_DENIED';
    return mayHold ? move(withdrawalStep) : Promise.reject(error);
  });
  return {
    taskId: request.taskId,
    status,
    message: `Task is ${status.replace('_', ' ')}`,
  } satisfies MessageInitShape<typeof UpdateTaskResponseSchema>;
}

type Update = UpdateTask & { readonly agent: Agent; readonly now: Date };

function actionStep({ taskId, action, comment, agent, now }: Update): Step {
  const { from, by, to, event, says } = moves[action];
  const role = by === 'creator' ? Prisma.sql`before.creator_aid` : Prisma.sql`before.assigned_aid`;
  return {
    taskId,
    guard: Prisma.sql`${role} = ${agent.aid} AND before.status = ANY (${[...from]}::task_status[])
      AND (before.status = 'review' OR before.expires_at > ${now}::timestamptz)`,
    set: Prisma.sql`status = ${to}::task_status, ${effects(action, now)}`,
    claims: claimEffects(action, now),
    event,
    says: withComment(`${agent.name} ${says}`, comment),
    actorAid: agent.aid,
    // Of a cancelled task there may be several.
    claimId: action === 'unclaim' || action === 'reject' ? Prisma.sql`(SELECT id FROM touched)` : undefined,
    note: comment,
    now,
    refusal: (task) => {
      const decision = decideAction(action, task, agent.aid, now);
      return typeof decision === 'object' ? decision.refused : 'INVALID_TRANSITION';
    },
  };
}

function effects(action: Action, now: Date): Prisma.Sql {
  const at = Prisma.sql`${now}::timestamptz`;
  switch (action) {
    case 'start':
      return Prisma.sql`started_at = ${at}`;
    case 'approve':
      return Prisma.sql`completed_at = ${at}`;
    case 'cancel':
      // Pending claims are rejected; an accepted one stays, as the assignment does.
      return Prisma.sql`claims_count = CASE before.status WHEN 'claimed' THEN 1 ELSE 0 END`;
    case 'unclaim':
    case 'reject':
      return Prisma.sql`
        assigned_aid = NULL, assigned_name = NULL, claimed_at = NULL, started_at = NULL, claims_count = 0,
        expires_at = CASE WHEN before.expires_at > ${at} THEN before.expires_at ELSE ${at} + make_interval(mins => before.ttl_minutes) END`;
  }
}

function claimEffects(action: Action, now: Date): Prisma.Sql | undefined {
  const end = (from: string, to: string) => Prisma.sql`
    status = ${to}::claim_status, resolved_at = ${now}::timestamptz
    FROM changed WHERE claim.task_id = changed.id AND claim.status = ${from}::claim_status`;
  if (action === 'cancel') return end('pending', 'rejected');
  if (action === 'unclaim') return end('accepted', 'withdrawn');
  return action === 'reject' ? end('accepted', 'rejected') : undefined;
}

/** Takes back the agent's own pending claim; the task stays as it is. */
function withdrawalStep({ taskId, comment, agent, now }: Update): Step {
  const own = Prisma.sql`agent_aid = ${agent.aid} AND claim.status = 'pending'`;
  return {
    taskId,
    guard: Prisma.sql`before.status = 'open' AND before.expires_at > ${now}::timestamptz
      AND EXISTS (SELECT FROM claim WHERE claim.task_id = before.id AND ${own})`,
    set: Prisma.sql`claims_count = before.claims_count - 1`,
    claims: Prisma.sql`status = 'withdrawn', resolved_at = ${now}::timestamptz FROM changed WHERE claim.task_id = changed.id AND ${own}`,
    event: 'task.claim_withdrawn',
    says: withComment(`${agent.name} withdrew its claim`, comment),
    actorAid: agent.aid,
    claimId: Prisma.sql`(SELECT id FROM touched)`,
    note: comment,
    now,
    refusal: () => 'PERMISSION_DENIED',
  };
}

type UpdateTask = z.infer<typeof updateTaskInput>;

export const updateTaskInput = z
  .object({ aid: callerAid, task_id: taskId, action: oneOf(actions, 'INVALID_ACTION'), comment: remark.optional() })
  .transform(({ task_id, ...same }) => ({
    ...same,
    taskId: task_id,
  })) satisfies z.ZodType<MessageInitShape<typeof UpdateTaskRequestSchema>>;
