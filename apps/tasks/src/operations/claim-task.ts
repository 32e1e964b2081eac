import type { ClaimTaskRequestSchema, ClaimTaskResponseSchema } from '@acsp/contracts/tasks/v1/tasks';
import { isUniqueViolation } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { integer } from '@acsp/http';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Context } from '../context.js';
import { type Claim, Prisma } from '../generated/prisma/client.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import { claimColumns, type RuledTask, ruledColumns } from '../task/columns.js';
import { liveClaim } from '../task/conditions.js';
import { callerAid, remark, taskId } from '../task/fields.js';
import { matchScore } from '../task/match-score.js';
import { toClaim } from '../task/present.js';
import { changedColumns, recorded } from '../task/record.js';
import { decideClaim, statusAt } from '../task/state.js';

/** Claims a task: accepted at once where one claim is all it takes, else pending until the creator decides. */
export async function claimTask(context: Context, request: ClaimTask, agent: Agent) {
  const now = context.clock.now();
  const [attempt] = await context.database.query<Attempt>(claimStatement(request, agent, now)).catch(asSecondClaim);
  if (attempt === undefined) throw new AppError('TASK_NOT_FOUND');
  if (attempt.claim === null) throw new AppError(whyRefused(attempt, agent.aid, now));
  const claim = { ...attempt.claim, match_score: await matchScore(context, attempt.claim) };
  return {
    claim: toClaim(claim, attempt, now),
    taskStatus: attempt.max_claims === 1 ? 'claimed' : 'open',
    message: attempt.max_claims === 1 ? 'Task claimed and assigned to you' : 'Claim pending until the creator decides',
  } satisfies MessageInitShape<typeof ClaimTaskResponseSchema>;
}

/** The locked task as it was before the claim, what the statement saw when it began, and the claim if it was made. */
type Attempt = RuledTask & {
  readonly asked_status: TaskStatus;
  readonly holds_live: boolean;
  readonly claim: Claim | null;
};

/** One statement: the row lock makes claims of one task queue, so that exactly one finds it open. */
const claimStatement = ({ taskId, message, etaMinutes }: ClaimTask, agent: Agent, now: Date) => Prisma.sql`
  WITH asked AS (SELECT status FROM task WHERE id = ${taskId}::uuid),
  before AS (SELECT ${ruledColumns('task')} FROM task WHERE id = ${taskId}::uuid FOR UPDATE),
  held AS (${liveClaim(taskId, agent.aid)}),
  changed AS (
    UPDATE task SET
      claims_count = before.claims_count + 1,
      status = CASE before.max_claims WHEN 1 THEN 'claimed' ELSE before.status END,
      assigned_aid = CASE before.max_claims WHEN 1 THEN ${agent.aid} END,
      assigned_name = CASE before.max_claims WHEN 1 THEN ${agent.name} END,
      claimed_at = CASE before.max_claims WHEN 1 THEN ${now}::timestamptz END
    FROM before
    WHERE task.id = before.id AND before.status = 'open' AND before.expires_at > ${now}::timestamptz
      AND before.creator_aid <> ${agent.aid} AND coalesce(before.target_aid, ${agent.aid}) = ${agent.aid}
      AND before.claims_count < before.max_claims AND NOT EXISTS (SELECT FROM held)
    RETURNING ${changedColumns}
  ),
  made AS (
    INSERT INTO claim (id, task_id, agent_aid, agent_name, status, message, eta_minutes, created_at, resolved_at)
    SELECT ${uuidv7()}::uuid, id, ${agent.aid}, ${agent.name}, CASE max_claims WHEN 1 THEN 'accepted' ELSE 'pending' END::claim_status,
      ${message ?? null}, ${etaMinutes ?? null}::int, ${now}::timestamptz, CASE max_claims WHEN 1 THEN ${now}::timestamptz END
    FROM changed
    RETURNING ${claimColumns}
  ),
  ${recorded({
    event: Prisma.sql`CASE changed.max_claims WHEN 1 THEN 'task.claimed' ELSE 'task.claim_pending' END`,
    says: `${agent.name} claimed the task`,
    actorAid: agent.aid,
    claimId: Prisma.sql`(SELECT id FROM made)`,
    note: message,
    now,
  })}
  SELECT ${ruledColumns('before')}, asked.status AS asked_status, EXISTS (SELECT FROM held) AS holds_live, to_jsonb(made) AS claim
  FROM before LEFT JOIN asked ON true LEFT JOIN made ON true`;

/** Two claims of one agent at the same moment: the index on live claims refuses the later one. */
function asSecondClaim(error: unknown): never {
  throw isUniqueViolation(error) ? new AppError('ALREADY_CLAIMED') : error;
}

function whyRefused(attempt: Attempt, aid: string, now: Date) {
  // Of two claims of one agent at once the later one did not see the other, but the assignment that it made.
  const decision = decideClaim(attempt, attempt.holds_live || attempt.assigned_aid === aid, aid, now);
  const refused = typeof decision === 'object' ? decision.refused : 'TASK_NOT_OPEN';
  const wasOpen = statusAt({ status: attempt.asked_status, expires_at: attempt.expires_at }, now) === 'open';
  // What somebody else has now was open when the agent asked: it lost the race.
  return refused === 'TASK_NOT_OPEN' && wasOpen && attempt.assigned_aid !== null ? 'TASK_ALREADY_ASSIGNED' : refused;
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
