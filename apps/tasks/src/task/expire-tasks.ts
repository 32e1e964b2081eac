import { AppError } from '@acsp/errors';
import type { Context } from '../context.js';
import { changeTask } from './change-task.js';
import { type Decision, decideExpiry } from './decide.js';
import type { TaskState } from './state.js';

const batch = 200;

/** Writes down what readers already see: tasks that have run out are expired, their live claims rejected. */
export async function expireTasks(context: Context, signal?: AbortSignal): Promise<void> {
  const { database, clock } = context;
  for (let after = ''; !signal?.aborted; ) {
    const due = await database.prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM task WHERE status IN ('open', 'claimed') AND expires_at <= ${clock.now()}::timestamptz
        AND id::text > ${after} ORDER BY id LIMIT ${batch}::int`;
    await changeAll(context, due, decideExpiry);
    after = due.at(-1)?.id ?? '';
    if (due.length < batch) return;
  }
}

/** Changes many tasks at once; one that is no longer as it was found is left alone, and one that is locked comes up again at the next run. */
export async function changeAll(
  context: Context,
  found: readonly { readonly id: string }[],
  decide: (task: TaskState, at: Date) => Decision,
): Promise<void> {
  const answer = () => undefined;
  const changes = found.map(({ id }) => changeTask(context, { id, decide, answer }));
  for (const outcome of await Promise.allSettled(changes)) {
    if (outcome.status === 'fulfilled') continue;
    const { reason } = outcome;
    const settled = reason instanceof AppError && (reason.code === 'INVALID_STATUS' || reason.code === 'TASK_NOT_FOUND');
    if (!settled) throw reason;
  }
}
