import type { ResolveClaimRequestSchema, ResolveClaimResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import type { ErrorCode } from '@acsp/errors';
import { oneOf, uuid } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { type Claim, Prisma } from '../generated/prisma/client.js';
import { claimColumns, type RuledTask } from '../task/columns.js';
import { callerAid, taskId } from '../task/fields.js';
import { fresh, moveStatement, moveTask } from '../task/move-task.js';
import { type Aggregated, toClaim } from '../task/present.js';

/** The creator accepts one pending claim, which rejects the others, or rejects one. */
export async function resolveClaim(context: Context, request: ResolveClaim, creator: Agent) {
  const at = context.clock.now();
  const accept = request.decision === 'accept';
  const asked = {
    task_id: request.taskId,
    aid: creator.aid,
    says: `${creator.name} ${accept ? 'accepted' : 'rejected'} the claim of`,
    note: null,
    at,
    claim_id: request.claimId,
    accept,
  };
  const refusal = (row: RuledTask) => whyRefused(context, row, request.claimId, creator);
  const { claim, moved_to: status, ...task } = await moveTask(context, resolution, asked, refusal);
  // Claims that wait in this process lost a race.
  if (accept) context.taken.set(request.taskId, performance.now());
  return {
    claim: toClaim(claim, { ...task, status }, at),
    taskStatus: status,
    message: `Claim ${claim.status}`,
  } satisfies MessageInitShape<typeof ResolveClaimResponseSchema>;
}

interface Resolution {
  readonly claim_id: string;
  readonly accept: boolean;
}

const resolution = moveStatement<Resolution, { readonly claim: Aggregated<Claim> }>({
  columns: { claim_id: 'uuid', accept: 'boolean' },
  guard: Prisma.sql`before.creator_aid = before.aid AND before.status = 'open' AND before.expires_at > before.at
    AND EXISTS (SELECT FROM claim WHERE claim.task_id = before.id AND claim.id = before.claim_id AND claim.status = 'pending')
    AND ${fresh}`,
  set: Prisma.sql`
    status = CASE WHEN before.accept THEN 'claimed' ELSE before.status END,
    claims_count = CASE WHEN before.accept THEN 1 ELSE before.claims_count - 1 END,
    claimed_at = CASE WHEN before.accept THEN before.at END,
    (assigned_aid, assigned_name) = (
      SELECT agent_aid, agent_name FROM claim WHERE before.accept AND claim.task_id = before.id AND claim.id = before.claim_id
    )`,
  claims: Prisma.sql`
    UPDATE claim SET resolved_at = changed.at,
      status = CASE WHEN changed.accept AND claim.id = changed.claim_id THEN 'accepted' ELSE 'rejected' END::claim_status
    FROM changed
    WHERE claim.task_id = changed.id AND claim.status = 'pending' AND (changed.accept OR claim.id = changed.claim_id)
    RETURNING ${claimColumns}`,
  event: Prisma.sql`CASE WHEN changed.accept THEN 'task.claimed' ELSE 'task.claim_rejected' END`,
  says: Prisma.sql`changed.says || ' ' || (SELECT agent_name FROM touched WHERE touched.task_id = changed.id AND touched.id = changed.claim_id)`,
  claimId: Prisma.sql`changed.claim_id`,
  shows: Prisma.sql`
    (SELECT to_json(touched) FROM touched WHERE touched.task_id = before.id AND touched.id = before.claim_id) AS claim`,
});

async function whyRefused({ database }: Context, task: RuledTask, claimId: string, creator: Agent): Promise<ErrorCode> {
  if (task.creator_aid !== creator.aid) return 'PERMISSION_DENIED';
  const claim = await database.prisma.claim.findUnique({ where: { task_id_id: { task_id: task.id, id: claimId } } });
  return claim === null ? 'CLAIM_NOT_FOUND' : 'INVALID_TRANSITION';
}

type ResolveClaim = z.infer<typeof resolveClaimInput>;

export const resolveClaimInput = z
  .object({
    aid: callerAid,
    task_id: taskId,
    claim_id: uuid('INVALID_FIELD', 'MISSING_FIELDS'),
    decision: oneOf(['accept', 'reject'], 'INVALID_FIELD', 'MISSING_FIELDS'),
  })
  .transform(({ task_id, claim_id, ...same }) => ({
    ...same,
    taskId: task_id,
    claimId: claim_id,
  })) satisfies z.ZodType<MessageInitShape<typeof ResolveClaimRequestSchema>>;
