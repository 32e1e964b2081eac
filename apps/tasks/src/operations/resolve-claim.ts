import type { ResolveClaimRequestSchema, ResolveClaimResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import type { ErrorCode } from '@acsp/errors';
import { oneOf, uuid } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { type Claim, Prisma } from '../generated/prisma/client.js';
import type { RuledTask } from '../task/columns.js';
import { callerAid, taskId } from '../task/fields.js';
import { moveTask, type Step } from '../task/move-task.js';
import { type Aggregated, toClaim } from '../task/present.js';

/** The creator accepts one pending claim, which rejects the others, or rejects one. */
export async function resolveClaim(context: Context, request: ResolveClaim, creator: Agent) {
  const now = context.clock.now();
  const { task, status, claims } = await moveTask(context, {
    ...(request.decision === 'accept' ? acceptance(request, creator, now) : rejection(request, creator, now)),
    taskId: request.taskId,
    guard: Prisma.sql`before.creator_aid = ${creator.aid} AND before.status = 'open' AND before.expires_at > ${now}::timestamptz
      AND EXISTS (SELECT FROM claim WHERE task_id = before.id AND claim.id = ${request.claimId}::uuid AND claim.status = 'pending')`,
    actorAid: creator.aid,
    claimId: Prisma.sql`${request.claimId}::uuid`,
    now,
    refusal: (row) => whyRefused(context, row, request.claimId, creator),
  });
  const resolved = claims.find(({ id }) => id === request.claimId) as Aggregated<Claim>;
  return {
    claim: toClaim(resolved, { ...task, status }, now),
    taskStatus: status,
    message: `Claim ${resolved.status}`,
  } satisfies MessageInitShape<typeof ResolveClaimResponseSchema>;
}

type Resolution = Pick<Step, 'set' | 'claims' | 'event' | 'says'>;

const acceptance = ({ claimId }: ResolveClaim, creator: Agent, now: Date): Resolution => ({
  set: Prisma.sql`
    status = 'claimed', claims_count = 1, claimed_at = ${now}::timestamptz,
    (assigned_aid, assigned_name) = (SELECT agent_aid, agent_name FROM claim WHERE task_id = before.id AND id = ${claimId}::uuid)`,
  claims: Prisma.sql`
    status = CASE claim.id WHEN ${claimId}::uuid THEN 'accepted' ELSE 'rejected' END::claim_status, resolved_at = ${now}::timestamptz
    FROM changed WHERE claim.task_id = changed.id AND claim.status = 'pending'`,
  event: 'task.claimed',
  says: Prisma.sql`(SELECT ${creator.name} || ' accepted the claim of ' || agent_name FROM claim WHERE task_id = changed.id AND claim.id = ${claimId}::uuid)`,
});

const rejection = ({ claimId }: ResolveClaim, creator: Agent, now: Date): Resolution => ({
  set: Prisma.sql`claims_count = before.claims_count - 1`,
  claims: Prisma.sql`status = 'rejected', resolved_at = ${now}::timestamptz FROM changed WHERE claim.task_id = changed.id AND claim.id = ${claimId}::uuid`,
  event: 'task.claim_rejected',
  says: Prisma.sql`(SELECT ${creator.name} || ' rejected the claim of ' || agent_name FROM claim WHERE task_id = changed.id AND claim.id = ${claimId}::uuid)`,
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
