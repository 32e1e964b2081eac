import { ClaimTaskRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { byAgent, callerAid, fieldsOf, integer } from '@acsp/operation';
import type { Context } from '../context.js';
import type { Pitch } from '../task/change.js';
import { changeTask, type Made } from '../task/change-task.js';
import { decideClaim } from '../task/decide-claim.js';
import { actorOf, comment, taskId } from '../task/fields.js';
import { matchScore } from '../task/match-score.js';
import { presentClaim } from '../task/present.js';
import type { TaskState } from '../task/state.js';

/** Claims a task: accepted at once where one claim is all it takes, else pending until the creator decides. */
export const claimTask = byAgent(
  fieldsOf(ClaimTaskRequestSchema)({
    aid: callerAid,
    task_id: taskId,
    message: comment.optional(),
    eta_minutes: integer(1, 43_200).optional(),
  }),
  async (context: Context, input, agent, call) => {
    const { task_id, message = null, eta_minutes = null } = input;
    const [requested_at, startedAt] = [context.clock.now(), performance.now()];
    const by = { ...actorOf(agent), claim_id: newId(), message, eta_minutes };
    const isPossible = (task: TaskState | undefined) =>
      task !== undefined && !('refused' in decideClaim(task, { ...by, at: requested_at, match_score: null }));
    const match_score = await matchScore(context, { task_id, isPossible, call });
    return changeTask(context, {
      id: task_id,
      call,
      decide: (task, at) => decideClaim(task, { ...by, at, match_score }),
      answer: (made) => answerOf(made, { message, eta_minutes, match_score }),
      explain(refused, { claimed_at }) {
        // The task was open when the request came in, as this process has seen or as the other claim's time says.
        const wasOpen = (context.known.get(task_id)?.open_at ?? 0) >= startedAt;
        const lost = claimed_at !== null && (wasOpen || claimed_at > requested_at);
        return refused.code === 'TASK_NOT_OPEN' && lost ? new AppError('TASK_ALREADY_ASSIGNED') : refused;
      },
    });
  },
);

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
