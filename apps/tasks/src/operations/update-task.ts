import type { UpdateTaskRequestSchema, UpdateTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { AppError } from '@acsp/errors';
import { oneOf } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import type { ClaimStatus, TaskStatus } from '../generated/prisma/enums.js';
import { holdsLive } from '../task/conditions.js';
import { callerAid, remark, taskId } from '../task/fields.js';
import { fresh, moveStatement, moveTask } from '../task/move-task.js';
import { withComment } from '../task/record.js';
import { actions, decideAction, type Move, moves } from '../task/state.js';

/** Moves a task along interface 3.1: start, cancel, approve, reject, unclaim. */
export async function updateTask(context: Context, request: UpdateTask, agent: Agent) {
  const { moved_to: status } = await move(context, request, agent).catch((error) => {
    // Whoever is not assigned may still have a pending claim to take back.
    const mayHold = request.action === 'unclaim' && error instanceof AppError && error.code === 'PERMISSION_DENIED';
    return mayHold ? withdraw(context, request, agent) : Promise.reject(error);
  });
  return {
    taskId: request.taskId,
    status,
    message: `Task is ${status.replace('_', ' ')}`,
  } satisfies MessageInitShape<typeof UpdateTaskResponseSchema>;
}

function move(context: Context, { taskId, action, comment }: UpdateTask, agent: Agent) {
  const { from, by, to, event, says, claims }: Move = moves[action];
  const at = context.clock.now();
  const asked = {
    task_id: taskId,
    aid: agent.aid,
    says: withComment(`${agent.name} ${says}`, comment),
    note: comment ?? null,
    at,
    from_statuses: from,
    by_creator: by === 'creator',
    to_status: to,
    event,
    claims_from: claims?.from ?? null,
    claims_to: claims?.to ?? null,
  };
  return moveTask(context, moveAlong, asked, (task) => {
    const decision = decideAction(action, task, agent.aid, at);
    return typeof decision === 'object' ? decision.refused : 'INVALID_TRANSITION';
  });
}

interface Along {
  readonly from_statuses: readonly TaskStatus[];
  readonly by_creator: boolean;
  readonly to_status: TaskStatus;
  readonly event: string;
  readonly claims_from: ClaimStatus | null;
  readonly claims_to: ClaimStatus | null;
}

/** Any row of the table of moves, so that whatever moves at the same time shares a statement. */
const moveAlong = moveStatement<Along>({
  columns: {
    from_statuses: 'task_status[]',
    by_creator: 'boolean',
    to_status: 'task_status',
    event: 'text',
    claims_from: 'claim_status',
    claims_to: 'claim_status',
  },
  guard: Prisma.sql`CASE WHEN before.by_creator THEN before.creator_aid ELSE before.assigned_aid END = before.aid
    AND before.status = ANY (before.from_statuses) AND (before.status = 'review' OR before.expires_at > before.at)
    AND (before.claims_to IS NULL OR ${fresh})`,
  set: Prisma.sql`
    status = before.to_status,
    started_at = CASE before.to_status WHEN 'in_progress' THEN before.at WHEN 'open' THEN NULL ELSE task.started_at END,
    completed_at = CASE before.to_status WHEN 'done' THEN before.at ELSE task.completed_at END,
    claims_count = CASE before.to_status
      WHEN 'open' THEN 0 WHEN 'cancelled' THEN (before.status = 'claimed')::int ELSE before.claims_count END,
    assigned_aid = CASE WHEN before.to_status <> 'open' THEN before.assigned_aid END,
    assigned_name = CASE WHEN before.to_status <> 'open' THEN task.assigned_name END,
    claimed_at = CASE WHEN before.to_status <> 'open' THEN task.claimed_at END,
    expires_at = CASE WHEN before.to_status = 'open' AND before.expires_at <= before.at
      THEN before.at + make_interval(mins => before.ttl_minutes) ELSE before.expires_at END`,
  claims: Prisma.sql`
    UPDATE claim SET status = changed.claims_to, resolved_at = changed.at
    FROM changed WHERE changed.claims_to IS NOT NULL AND claim.task_id = changed.id AND claim.status = changed.claims_from
    RETURNING claim.id, claim.task_id`,
  event: Prisma.sql`changed.event`,
  // Of a cancelled task there may be several.
  claimId: Prisma.sql`CASE changed.status WHEN 'open' THEN (SELECT touched.id FROM touched WHERE touched.task_id = changed.id) END`,
});

/** Takes back the agent's own pending claim; the task stays as it is. */
function withdraw(context: Context, { taskId, comment }: UpdateTask, agent: Agent) {
  const asked = {
    task_id: taskId,
    aid: agent.aid,
    says: withComment(`${agent.name} withdrew its claim`, comment),
    note: comment ?? null,
    at: context.clock.now(),
  };
  return moveTask(context, withdrawal, asked, () => 'PERMISSION_DENIED');
}

const withdrawal = moveStatement<object>({
  columns: {},
  guard: Prisma.sql`before.status = 'open' AND before.expires_at > before.at AND ${holdsLive} AND ${fresh}`,
  set: Prisma.sql`claims_count = before.claims_count - 1`,
  claims: Prisma.sql`
    UPDATE claim SET status = 'withdrawn', resolved_at = changed.at
    FROM changed WHERE claim.task_id = changed.id AND claim.agent_aid = changed.aid AND claim.status = 'pending'
    RETURNING claim.id, claim.task_id`,
  event: Prisma.sql`'task.claim_withdrawn'`,
  claimId: Prisma.sql`(SELECT touched.id FROM touched WHERE touched.task_id = changed.id)`,
});

type UpdateTask = z.infer<typeof updateTaskInput>;

export const updateTaskInput = z
  .object({ aid: callerAid, task_id: taskId, action: oneOf(actions, 'INVALID_ACTION'), comment: remark.optional() })
  .transform(({ task_id, ...same }) => ({
    ...same,
    taskId: task_id,
  })) satisfies z.ZodType<MessageInitShape<typeof UpdateTaskRequestSchema>>;
