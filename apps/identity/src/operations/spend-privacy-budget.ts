import { SpendPrivacyBudgetRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { lockAgent } from '../agent/find-agent.js';
import { dailyBudget, secondsToNextDay, utcDay } from '../budget/daily-budget.js';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';

/** Takes epsilon from what an agent may spend today, or refuses and takes nothing. */
export const spendPrivacyBudget = byAnyone(
  fieldsOf(SpendPrivacyBudgetRequestSchema)({
    aid: agentAid,
    epsilon: z.number('INVALID_FIELD').gt(0, 'INVALID_FIELD').max(dailyBudget, 'INVALID_FIELD'),
  }),
  ({ database, clock }: Context, input, _caller, call) =>
    database.transaction(call, async (tx) => {
      const { aid } = await lockAgent(tx, input.aid);
      const now = clock.now();
      const day = new Date(utcDay(now));
      const found = await tx.privacyBudget.findUnique({ where: { aid_day: { aid, day } } });
      const spent = roundedUp(input.epsilon).plus(found?.spent ?? 0);
      if (spent.greaterThan(dailyBudget)) {
        throw new AppError('PRIVACY_BUDGET_EXHAUSTED', { retryAfterSeconds: secondsToNextDay(now) });
      }
      await tx.privacyBudget.deleteMany({ where: { aid, day: { lt: day } } });
      await tx.privacyBudget.upsert({
        where: { aid_day: { aid, day } },
        create: { aid, day, spent },
        update: { spent },
      });
      return { budget_remaining: new Prisma.Decimal(dailyBudget).minus(spent).toNumber() };
    }),
);

/** The table keeps six digits: rounding up spends nothing for free. */
const roundedUp = (epsilon: number) => new Prisma.Decimal(epsilon).toDecimalPlaces(6, Prisma.Decimal.ROUND_UP);
