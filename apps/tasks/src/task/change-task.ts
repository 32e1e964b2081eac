import { answerRow, patience, untilWritten } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Call } from '@acsp/operation';
import { takeTurn } from '@acsp/time';
import type { Context } from '../context.js';
import { applied, type Change, type Decision } from './change.js';
import { changeRow, writeChanges } from './change-row.js';
import { readTask, remember } from './known-tasks.js';
import type { TaskState } from './state.js';

/** A change as it is written. */
export interface Made {
  readonly change: Change;
  readonly before: TaskState;
  readonly after: TaskState;
  readonly at: Date;
}

export interface Changing<Answer> {
  readonly id: string;
  /** Rules and effects, on the task as it is at that moment. */
  readonly decide: (task: TaskState, at: Date) => Decision;
  /** The answer of the operation, kept with the change under an Idempotency-Key. */
  readonly answer: (made: Made) => Answer;
  /** The call that it serves; absent in jobs and consumers. */
  readonly call?: Call;
  /** The error of a refusal, where it depends on more than the task. */
  readonly explain?: (refused: AppError, task: TaskState) => AppError;
}

interface Turn {
  /** The arrival of the request, by performance.now(). */
  readonly startedAt: number;
  /** The known task has turned out to be stale. */
  stale: boolean;
}

/**
 * Changes a task: decides on it as this process knows it, writes where its version still holds, or starts over. Changes of one task in this
 * process take their turns. Throws the refusal of a task that is known to be as it is now, and SERVICE_UNAVAILABLE when time runs out.
 */
export async function changeTask<Answer>(context: Context, changing: Changing<Answer>): Promise<Answer> {
  const { id, call } = changing;
  const until = patience(call);
  const turn = { startedAt: performance.now(), stale: false };
  const end = await takeTurn(context.turns, id);
  try {
    const { answer } = await untilWritten(() => attemptChange(context, changing, turn), { call, until });
    return answer;
  } finally {
    end();
  }
}

/** Answers undefined where the change must be decided anew. */
async function attemptChange<Answer>(context: Context, changing: Changing<Answer>, turn: Turn) {
  const { call, explain } = changing;
  const { before, at, decision } = await decideOn(context, changing, turn);
  if ('refused' in decision) {
    const refused = new AppError(decision.refused);
    throw explain?.(refused, before) ?? refused;
  }
  const after = applied(before, decision);
  const answer = changing.answer({ change: decision, before, after, at });
  const row = changeRow({ before, after, change: decision, at, answer: answerRow(call?.once, answer) });
  const sentAt = performance.now();
  const outcome = await context.database.batch(writeChanges, row, call);
  turn.stale = outcome === undefined;
  if (outcome === undefined) return undefined;
  // The task was as it was known until the commit, and while somebody holds the row.
  remember(context, before, outcome.written ? performance.now() : sentAt);
  if (!outcome.written) return undefined;
  remember(context, after, performance.now());
  return { answer };
}

/** The task and what becomes of it. A refusal must be true after the request came in, so none rests on what was known before. */
async function decideOn(context: Context, { id, decide }: Changing<unknown>, { startedAt, stale }: Turn) {
  const known = stale ? undefined : context.known.get(id);
  if (known !== undefined) {
    const at = context.clock.now();
    const decision = decide(known.task, at);
    if (known.at >= startedAt || !('refused' in decision)) return { before: known.task, at, decision };
  }
  const before = await readTask(context, id);
  if (before === undefined) throw new AppError('TASK_NOT_FOUND');
  const at = context.clock.now();
  return { before, at, decision: decide(before, at) };
}
