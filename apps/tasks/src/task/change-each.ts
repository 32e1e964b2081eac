import { AppError } from '@acsp/errors';
import type { Context } from '../context.js';
import type { Decision } from './change.js';
import { changeTask } from './change-task.js';
import type { TaskState } from './state.js';

interface Page {
  /** The id of the last task of the page before. */
  readonly after: string;
  readonly limit: number;
}

export interface Each {
  /** Tasks in the order of their ids. */
  readonly find: (page: Page) => PromiseLike<readonly { readonly id: string }[]>;
  readonly decide: (task: TaskState, at: Date) => Decision;
  readonly signal?: AbortSignal | undefined;
}

const limit = 200;

/**
 * Changes every task that a query finds, page by page. One that is no longer as it was found is left alone. One that cannot be changed, because
 * somebody has it locked, keeps none of the others waiting: its error is thrown at the end.
 */
export async function changeEach(context: Context, { find, decide, signal }: Each): Promise<void> {
  const failures: unknown[] = [];
  for (let after = '00000000-0000-0000-0000-000000000000'; !signal?.aborted; ) {
    const found = await find({ after, limit });
    const changes = found.map(({ id }) => changeTask(context, { id, decide, answer: () => undefined }));
    for (const outcome of await Promise.allSettled(changes)) {
      if (outcome.status === 'rejected' && !isSettled(outcome.reason)) failures.push(outcome.reason);
    }
    after = found.at(-1)?.id ?? after;
    if (found.length < limit) break;
  }
  if (failures.length > 0) throw failures[0];
}

/** The rules have nothing more to change. */
const isSettled = (error: unknown) => error instanceof AppError && error.code === 'INVALID_STATUS';
