import { ClaimTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { type Agent, type Call, fieldsOf, integer } from '@acsp/operation';
import type { z } from 'zod';
import type { Context } from '../context.js';
import { changeTask, type Made } from '../task/change-task.js';
import { decideClaim, type Pitch } from '../task/decide.js';
import { actorOf, callerAid, comment, taskId } from '../task/fields.js';
import { lookUpTask } from '../task/known-tasks.js';
import { matchScore } from '../task/match-score.js';
import { presentClaim } from '../task/present.js';
import { statusAt, type TaskState } from '../task/state.js';

type Input = z.infer<typeof claimTaskInput>;

/** Claims a task: accepted at once where one claim is all it takes, else pending until the creator decides. */
export async function claimTask(context: Context, input: Input, agent: Agent, call: Call) {
  const { task_id, message = null, eta_minutes = null } = input;
  const asked_at = context.clock.now();
  const by = { ...actorOf(agent), claim_id: newId(), message, eta_minutes };
  const seen = await lookUpTask(context, task_id);
  let sawOpen = seen !== undefined && statusAt(seen, asked_at) === 'open';
  const worthwhile = seen !== undefined && !('refused' in decideClaim(seen, { ...by, at: asked_at, match_score: null }));
  const match_score = worthwhile ? await matchScore(context, task_id, call) : null;
  return changeTask(context, {
    id: task_id,
    call,
    decide(task, at) {
      sawOpen ||= statusAt(task, at) === 'open';
      return decideClaim(task, { ...by, at, match_score });
    },
    answer: (made) => answerOf(made, { message, eta_minutes, match_score }),
    explain: (refused, task) =>
      refused.code === 'TASK_NOT_OPEN' && lostRace(task, { asked_at, sawOpen }) ? new AppError('TASK_ALREADY_ASSIGNED') : refused,
  });
}

function answerOf({ change, after, at }: Made, pitch: Pitch) {
  const claim = change.claim as NonNullable<typeof change.claim>;
  const accepted = claim.status === 'accepted';
  const row = { ...claim, ...pitch, task_id: after.id, created_at: at, resolved_at: accepted ? at : null };
  return {
    claim: presentClaim(row, after, at),
    task_status: after.status,
    message: accepted ? 'Task claimed and assigned to you' : 'Claim pending until the creator decides',
  };
}

/** A process may have learned of the claim only when it wanted to write its own; what is seen open may be older than that by this much. */
const staleMs = 5_000;

/** Whether the task was open when the agent asked, and has somebody else now. */
function lostRace({ claimed_at }: TaskState, { asked_at, sawOpen }: { asked_at: Date; sawOpen: boolean }): boolean {
  if (claimed_at === null) return false;
  return claimed_at.getTime() >= asked_at.getTime() - (sawOpen ? staleMs : 0);
}

export const claimTaskInput = fieldsOf(ClaimTaskRequestSchema)({
  aid: callerAid,
  task_id: taskId,
  message: comment.optional(),
  eta_minutes: integer(1, 43_200).optional(),
});
