import { ResolveClaimRequestSchema } from '@acsp/contracts/tasks/v1/tasks';
import { AppError } from '@acsp/errors';
import { byAgent, callerAid, fieldsOf, oneOf, uuid } from '@acsp/operation';
import type { Context } from '../context.js';
import { changeTask } from '../task/change-task.js';
import { decideResolve } from '../task/decide-claim.js';
import { actorOf, taskId } from '../task/fields.js';
import { presentClaim } from '../task/present.js';

/** The creator accepts one pending claim, which rejects the others, or rejects one. */
export const resolveClaim = byAgent(
  fieldsOf(ResolveClaimRequestSchema)({
    aid: callerAid,
    task_id: taskId,
    claim_id: uuid('INVALID_FIELD', 'MISSING_FIELDS'),
    decision: oneOf(['accept', 'reject'], 'INVALID_FIELD', 'MISSING_FIELDS'),
  }),
  async (context: Context, input, creator, call) => {
    const { task_id, claim_id, decision } = input;
    // A claim's own words do not change once it is made, so they are read before the change.
    const claim = await context.database.prisma.claim.findUnique({ where: { task_id_id: { task_id, id: claim_id } } });
    const accept = decision === 'accept';
    const status = accept ? ('accepted' as const) : ('rejected' as const);
    return changeTask(context, {
      id: task_id,
      call,
      decide: (task, at) => decideResolve(task, { ...actorOf(creator), at, claim_id, accept }),
      answer: ({ after, at }) => ({
        claim: claim && presentClaim({ ...claim, status, resolved_at: at }, after, at),
        task_status: after.status,
        message: `Claim ${status}`,
      }),
      explain: (refused) =>
        refused.code === 'CLAIM_NOT_FOUND' && claim !== null ? new AppError('INVALID_TRANSITION') : refused,
    });
  },
);
