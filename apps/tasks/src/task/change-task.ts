import { answerRow, asRepeated } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Call } from '@acsp/operation';
import { pause } from '@acsp/time';
import type { Context } from '../context.js';
import { changeRow, writeChanges } from './change-row.js';
import { applied, type Change, type Decision } from './decide.js';
import { readTask } from './known-tasks.js';
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
  /** What the operation answers, kept with the change under an Idempotency-Key. */
  readonly answer: (made: Made) => Answer;
  /** The call that it serves; absent in jobs and consumers. */
  readonly call?: Call;
  /** The error of a refusal, where it depends on more than the task. */
  readonly explain?: (refused: AppError, task: TaskState) => AppError | Promise<AppError>;
}

/** A caller waits no longer than this, and nothing is written afterwards. */
const patienceMs = 4_000;

/**
 * Changes a task: decides on it as this process knows it, writes where its version still holds, or starts over. Changes of one task in this
 * process take their turns. Throws the refusal of a task that is known to be as it is now, and SERVICE_UNAVAILABLE when time runs out.
 */
export async function changeTask<Answer>(context: Context, changing: Changing<Answer>): Promise<Answer> {
  const { id, call } = changing;
  const until = Math.min(call?.deadline ?? Number.POSITIVE_INFINITY, Date.now() + patienceMs);
  const startedAt = performance.now();
  const end = await takeTurn(context, id);
  try {
    for (let attempt = 1; Date.now() < until; attempt += 1) {
      const outcome = await attemptChange(context, changing, startedAt);
      if (outcome !== undefined) return outcome.answer;
      // Another replica was faster, or holds the row: with a random backoff, so that two do not keep in step.
      await pause(Math.random() * Math.min(2 ** attempt, 50), call?.signal);
    }
  } finally {
    end();
  }
  throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The task is changing too fast, or is locked' });
}

/** Answers undefined where the change must be decided anew. */
async function attemptChange<Answer>(context: Context, changing: Changing<Answer>, startedAt: number) {
  const { id, decide, answer, call, explain } = changing;
  const known = context.known.get(id);
  const before = known?.task ?? (await readTask(context, id));
  if (before === undefined) throw new AppError('TASK_NOT_FOUND');
  const at = context.clock.now();
  const decision = decide(before, at);
  if ('refused' in decision) {
    // A refusal must be true after the request came in: what was known before may be stale.
    if (known !== undefined && known.at < startedAt) {
      context.known.delete(id);
      return undefined;
    }
    const refused = new AppError(decision.refused);
    throw (await explain?.(refused, before)) ?? refused;
  }
  const after = applied(before, decision);
  const result = answer({ change: decision, before, after, at });
  const row = changeRow({ before, after, change: decision, at, answer: answerRow(call?.once, result) });
  const written = await context.database.batch(writeChanges, row).catch(asRepeated);
  if (written === undefined) {
    context.known.delete(id);
    return undefined;
  }
  context.known.set(id, { task: after, at: performance.now() });
  return { answer: result };
}

/** Resolves when every earlier change of the task in this process has ended; answers how to end this one's turn. */
async function takeTurn({ turns }: Context, id: string): Promise<() => void> {
  const before = turns.get(id);
  let end = () => {};
  const turn = new Promise<void>((resolve) => {
    end = resolve;
  });
  turns.set(id, turn);
  await before;
  return () => {
    if (turns.get(id) === turn) turns.delete(id);
    end();
  };
}
