import { AppError, type ErrorCode } from '@acsp/errors';
import type { Context } from '../context.js';
import { type Claim, Prisma } from '../generated/prisma/client.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import { claimColumns, type RuledTask, ruledColumns } from './columns.js';
import type { Aggregated } from './present.js';
import { changedColumns, type Happening, recorded } from './record.js';

/** A change of one task and its claims, made in one statement together with what it leaves behind. */
export interface Step extends Happening {
  readonly taskId: string;
  /** Whether it may happen, as SQL over the locked row `before`. */
  readonly guard: Prisma.Sql;
  /** Assignments of `UPDATE task`, over `before`. */
  readonly set: Prisma.Sql;
  /** The rest of `UPDATE claim SET …`, over `changed`. */
  readonly claims?: Prisma.Sql;
  /** Why it did not happen, from the row as it was. */
  readonly refusal: (task: RuledTask) => ErrorCode | Promise<ErrorCode>;
}

export interface Moved {
  readonly task: RuledTask;
  readonly status: TaskStatus;
  /** The claims that changed with it. */
  readonly claims: readonly Aggregated<Claim>[];
}

type Attempt = RuledTask & {
  readonly moved_to: TaskStatus | null;
  readonly fresh: boolean;
  readonly touched: readonly Aggregated<Claim>[] | null;
};

const maxAttempts = 8;

/**
 * Takes the step, or throws its refusal. A statement reads claims as they were when it began, but the task as it is once it has the lock; where
 * another change came in between (the row has a new version), it changes nothing and runs again.
 */
export async function moveTask({ database }: Context, step: Step): Promise<Moved> {
  for (let attempt = 1; ; attempt += 1) {
    const [task] = await database.query<Attempt>(statement(step));
    if (task === undefined) throw new AppError('TASK_NOT_FOUND');
    if (task.moved_to !== null) return { task, status: task.moved_to, claims: task.touched ?? [] };
    if (task.fresh) throw new AppError(await step.refusal(task));
    if (attempt === maxAttempts) throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The task is changing too fast' });
  }
}

const statement = (step: Step) => Prisma.sql`
  WITH asked AS (SELECT ctid::text AS version FROM task WHERE id = ${step.taskId}::uuid),
  before AS (SELECT ${ruledColumns('task')}, ctid::text AS version FROM task WHERE id = ${step.taskId}::uuid FOR UPDATE),
  changed AS (
    UPDATE task SET ${step.set}
    FROM before JOIN asked USING (version)
    WHERE task.id = before.id AND ${step.guard}
    RETURNING ${changedColumns}
  ),
  touched AS (${step.claims === undefined ? noClaims : Prisma.sql`UPDATE claim SET ${step.claims} RETURNING ${claimColumns}`}),
  ${recorded(step)}
  SELECT ${ruledColumns('before')}, changed.status AS moved_to, asked.version IS NOT NULL AS fresh,
    (SELECT jsonb_agg(touched) FROM touched) AS touched
  FROM before LEFT JOIN asked USING (version) LEFT JOIN changed ON true`;

const noClaims = Prisma.sql`SELECT WHERE false`;
