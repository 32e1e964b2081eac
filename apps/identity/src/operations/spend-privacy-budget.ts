import type {
  SpendPrivacyBudgetRequestSchema,
  SpendPrivacyBudgetResponseSchema,
} from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { dailyBudget, secondsToNextDay, utcDay } from '../budget/daily-budget.js';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';

/** Takes epsilon from what an agent may spend today, or refuses and takes nothing. */
export async function spendPrivacyBudget({ database, clock }: Context, request: SpendPrivacyBudget) {
  const now = clock.now();
  const [holder] = await database.prisma.$queryRaw<Holder[]>(spendStatement(request, utcDay(now)));
  if (holder === undefined) throw new AppError('AID_NOT_FOUND');
  if (holder.left === null) {
    throw new AppError('PRIVACY_BUDGET_EXHAUSTED', { retryAfterSeconds: secondsToNextDay(now) });
  }
  return { budgetRemaining: holder.left } satisfies MessageInitShape<typeof SpendPrivacyBudgetResponseSchema>;
}

interface Holder {
  /** Null where the budget does not reach. */
  readonly left: number | null;
}

/** The conflict takes the row's lock, so that spending at once cannot exceed the budget. */
const spendStatement = ({ aid, epsilon }: SpendPrivacyBudget, day: string) => Prisma.sql`
  WITH holder AS (SELECT aid FROM agent WHERE aid = ${aid} AND status = 'active'),
  past AS (DELETE FROM privacy_budget WHERE aid = ${aid} AND day < ${day}::date),
  today AS (
    INSERT INTO privacy_budget AS budget (aid, day, spent) SELECT aid, ${day}::date, ${epsilon}::numeric FROM holder
    ON CONFLICT (aid, day) DO UPDATE SET spent = budget.spent + excluded.spent
      WHERE budget.spent + excluded.spent <= ${dailyBudget}::int
    RETURNING spent
  )
  SELECT (${dailyBudget}::int - today.spent)::float8 AS "left" FROM holder LEFT JOIN today ON true`;

type SpendPrivacyBudget = z.infer<typeof spendPrivacyBudgetInput>;

export const spendPrivacyBudgetInput = z.object({
  aid: agentAid,
  epsilon: z.number('INVALID_FIELD').gt(0, 'INVALID_FIELD').max(dailyBudget, 'INVALID_FIELD'),
}) satisfies z.ZodType<MessageInitShape<typeof SpendPrivacyBudgetRequestSchema>>;
