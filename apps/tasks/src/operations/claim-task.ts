import type { ClaimTaskRequestSchema, ClaimTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { isUniqueViolation, newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { integer } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import type { RuledTask } from '../task/columns.js';
import { holdsLive } from '../task/conditions.js';
import { callerAid, remark, taskId } from '../task/fields.js';
import { matchScore } from '../task/match-score.js';
import { moveStatement, moveTask } from '../task/move-task.js';
import { toClaim } from '../task/present.js';
import { decideClaim } from '../task/state.js';

/** Claims a task: accepted at once where one claim is all it takes, else pending until the creator decides. */
export async function claimTask(context: Context, request: ClaimTask, agent: Agent) {
  const { taskId: task_id, message, etaMinutes } = request;
  const [at, askedAt] = [context.clock.now(), performance.now()];
  const asked = {
    task_id,
    aid: agent.aid,
    says: `${agent.name} claimed the task`,
    note: message ?? null,
    at,
    name: agent.name,
    claim_id: newId(),
    eta_minutes: etaMinutes ?? null,
  };
  const refusal = (task: Shown, seen: TaskStatus | null) => {
    // Another process took it while this claim was on its way.
    if (seen === 'open' && task.status !== 'open') context.taken.set(task_id, performance.now());
    return whyRefused(task, agent.aid, { at, wasOpen: askedAt < (context.taken.get(task_id) ?? 0) });
  };
  const task = await moveTask(context, claiming, asked, refusal).catch(asSecondClaim);
  const accepted = task.max_claims === 1;
  if (accepted) context.taken.set(task_id, performance.now());
  const claim = {
    id: asked.claim_id,
    task_id,
    agent_aid: agent.aid,
    agent_name: agent.name,
    status: accepted ? 'accepted' : 'pending',
    message: asked.note,
    eta_minutes: asked.eta_minutes,
    created_at: at,
    resolved_at: accepted ? at : null,
  } as const;
  const match_score = await matchScore(context, claim);
  return {
    claim: toClaim({ ...claim, match_score }, { ...task, status: task.moved_to }, at),
    taskStatus: task.moved_to,
    message: accepted ? 'Task claimed and assigned to you' : 'Claim pending until the creator decides',
  } satisfies MessageInitShape<typeof ClaimTaskResponseSchema>;
}

interface Claiming {
  readonly name: string;
  readonly claim_id: string;
  readonly eta_minutes: number | null;
}

interface HoldsLive {
  readonly holds_live: boolean;
}
type Shown = RuledTask & HoldsLive;

/** The row lock makes claims of one task queue, so that exactly one finds it open. */
const claiming = moveStatement<Claiming, HoldsLive>({
  columns: { name: 'text', claim_id: 'uuid', eta_minutes: 'int' },
  guard: Prisma.sql`before.status = 'open' AND before.expires_at > before.at
    AND before.creator_aid <> before.aid AND coalesce(before.target_aid, before.aid) = before.aid
    AND before.claims_count < before.max_claims AND NOT ${holdsLive}`,
  set: Prisma.sql`
    claims_count = before.claims_count + 1,
    status = CASE before.max_claims WHEN 1 THEN 'claimed' ELSE before.status END,
    assigned_aid = CASE before.max_claims WHEN 1 THEN before.aid END,
    assigned_name = CASE before.max_claims WHEN 1 THEN before.name END,
    claimed_at = CASE before.max_claims WHEN 1 THEN before.at END`,
  claims: Prisma.sql`
    INSERT INTO claim (id, task_id, agent_aid, agent_name, status, message, eta_minutes, created_at, resolved_at)
    SELECT claim_id, id, aid, name, CASE max_claims WHEN 1 THEN 'accepted' ELSE 'pending' END::claim_status,
      note, eta_minutes, at, CASE max_claims WHEN 1 THEN at END
    FROM changed`,
  event: Prisma.sql`CASE changed.max_claims WHEN 1 THEN 'task.claimed' ELSE 'task.claim_pending' END`,
  claimId: Prisma.sql`changed.claim_id`,
  shows: Prisma.sql`CASE WHEN changed.id IS NULL THEN ${holdsLive} END AS holds_live`,
});

/** Two claims of one agent at the same moment: the index on live claims refuses the later one. */
function asSecondClaim(error: unknown): never {
  throw isUniqueViolation(error) ? new AppError('ALREADY_CLAIMED') : error;
}

interface Asking {
  readonly at: Date;
  /** Whether the task was open when the agent asked, as far as is known. */
  readonly wasOpen: boolean;
}

function whyRefused(task: Shown, aid: string, { at, wasOpen }: Asking) {
  // Of two claims of one agent at once the later one did not see the other, but the assignment that it made.
  const decision = decideClaim(task, task.holds_live || task.assigned_aid === aid, aid, at);
  const refused = typeof decision === 'object' ? decision.refused : 'TASK_NOT_OPEN';
  // What somebody else has now was open when the agent asked: it lost the race.
  return refused === 'TASK_NOT_OPEN' && wasOpen && task.assigned_aid !== null ? 'TASK_ALREADY_ASSIGNED' : refused;
}

type ClaimTask = z.infer<typeof claimTaskInput>;

export const claimTaskInput = z
  .object({ aid: callerAid, task_id: taskId, message: remark.optional(), eta_minutes: integer(1, 43_200).optional() })
  .transform(({ aid, task_id, message, eta_minutes }) => ({
    aid,
    taskId: task_id,
    message,
    etaMinutes: eta_minutes,
  })) satisfies z.ZodType<MessageInitShape<typeof ClaimTaskRequestSchema>>;
