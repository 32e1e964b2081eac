import { type BatchStatement, newId } from '@acsp/database';
import { AppError, type ErrorCode } from '@acsp/errors';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import type { TaskStatus } from '../generated/prisma/enums.js';
import { columnList, type RuledTask, ruledColumns } from './columns.js';
import { changedColumns, type Happening, happeningColumns, type RecordSql, recorded } from './record.js';

/** A kind of change of one task and its claims, made in one statement together with what it leaves behind. */
interface MoveSql<Own> extends RecordSql {
  /** What it is asked with besides a Happening: further columns of `before`, by type. */
  readonly columns: Readonly<Record<keyof Own, string>>;
  /** Whether it may happen, as SQL over the locked row `before`. */
  readonly guard: Prisma.Sql;
  /** Assignments of `UPDATE task`, over `before`. */
  readonly set: Prisma.Sql;
  /** The statement that changes claims, over `changed`, and what it returns. */
  readonly claims?: Prisma.Sql;
  /** Further columns of the answer, over `before` and `touched`, which is what `claims` returned. */
  readonly shows?: Prisma.Sql;
}

/** The task that is to be moved, and what is known of the change. */
type Asked<Own> = Own & Happening & { readonly task_id: string };

/** A kind of move, which answers with the row before it and what `shows` says. */
type MoveStatement<Own, Shown> = BatchStatement<Asked<Own>, Attempt<Shown>>;

/**
 * Of `before`: whether the statement sees the task's claims as they are. It reads them as they were when it began, but the task as it is once it has the
 * lock; where another change came in between, the row has a version that the statement cannot see.
 */
export const fresh = Prisma.sql`EXISTS (SELECT FROM task AS seen WHERE seen.ctid = before.version)`;

export function moveStatement<Own, Shown = unknown>(move: MoveSql<Own>): MoveStatement<Own, Shown> {
  const columns = { ...move.columns, ...happeningColumns };
  const hasOwn = Object.keys(move.columns).length > 0;
  const own = hasOwn ? Prisma.sql`, ${columnList(move.columns, 'before')}` : Prisma.empty;
  const { text } = Prisma.sql`
    , before AS (
      SELECT ${ruledColumns('task')}, task.version, ${columnList(columns, 'input')}
      FROM input CROSS JOIN LATERAL (
        SELECT ${ruledColumns('task')}, task.ctid AS version FROM task WHERE task.id = input.task_id FOR UPDATE
      ) AS task
    ),
    changed AS (
      UPDATE task SET ${move.set} FROM before WHERE task.id = before.id AND ${move.guard}
      RETURNING ${changedColumns}${own}
    ),
    touched AS (${move.claims ?? Prisma.sql`SELECT WHERE false`}),
    ${recorded(move)}
    SELECT before.id AS key, ${ruledColumns('before')}, changed.status AS moved_to,
      CASE WHEN changed.id IS NULL THEN ${fresh} END AS fresh,
      CASE WHEN changed.id IS NULL THEN (SELECT seen.status FROM task AS seen WHERE seen.id = before.id) END AS seen_status${move.shows === undefined ? Prisma.empty : Prisma.sql`, ${move.shows}`}
    FROM before LEFT JOIN changed ON changed.id = before.id`;
  return {
    columns: { ...columns, task_id: 'uuid' } as Record<keyof Asked<Own>, string>,
    text,
    key: ({ task_id }) => task_id,
  };
}

/** The task before the move, and its status after it. */
type Moved<Shown> = RuledTask & Shown & { readonly moved_to: TaskStatus };

type Attempt<Shown> = RuledTask &
  Shown & {
    readonly moved_to: TaskStatus | null;
    readonly fresh: boolean | null;
    /** The status when the statement began, without the lock. */
    readonly seen_status: TaskStatus | null;
  };

/** Why a move did not happen, from the row as it is and the status that it had when the first statement began. */
type Refusal<Shown> = (task: RuledTask & Shown, seen: TaskStatus | null) => ErrorCode | Promise<ErrorCode>;

const maxAttempts = 8;

/** Makes the move, or throws why it cannot be. */
export async function moveTask<Own, Shown>(
  { database }: Context,
  statement: MoveStatement<Own, Shown>,
  asked: Omit<Asked<Own>, 'message_id' | 'event_id'>,
  refusal: Refusal<Shown>,
): Promise<Moved<Shown>> {
  const input = { ...asked, message_id: newId(), event_id: newId() } as Asked<Own>;
  let seen: TaskStatus | null = null;
  for (let attempt = 1; ; attempt += 1) {
    const task = await database.batch(statement, input);
    if (task === undefined) throw new AppError('TASK_NOT_FOUND');
    if (task.moved_to !== null) return task as Moved<Shown>;
    seen ??= task.seen_status;
    if (task.fresh) throw new AppError(await refusal(task, seen));
    if (attempt === maxAttempts) throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The task is changing too fast' });
  }
}
