import { eventually } from '@acsp/testkit';
import pg from 'pg';
import type { Tasks } from './harness.js';

/** Locks a task's row until it is disposed, so that what changes the task has to try again and again. */
export async function holdTask({ databaseUrl }: Pick<Tasks, 'databaseUrl'>, id: string): Promise<AsyncDisposable> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM task WHERE id = $1 FOR UPDATE', [id]);
  return { [Symbol.asyncDispose]: () => holder.end() };
}

/**
 * Lets requests come in one after the other while the task is locked: the service of each has seen the task as it is before the next one comes.
 * In one service the changes take their turns in this order. A request that is refused at once does not wait.
 */
export async function allAtOnce<T>(
  services: readonly Tasks[],
  id: string,
  requests: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const held = await holdTask(services[0] as Tasks, id);
  const answers: Promise<T>[] = [];
  try {
    for (const request of requests) {
      const [before, sentAt] = [services.map(({ context }) => context.turns.get(id)), performance.now()];
      let answered = false;
      const answer = request().finally(() => {
        answered = true;
      });
      answers.push(answer);
      const hasSeenTask = ({ context: { turns, known } }: Tasks, n: number) =>
        turns.has(id) && turns.get(id) !== before[n] && (known.get(id)?.at ?? 0) >= sentAt;
      await eventually(() => answered || services.some(hasSeenTask), { intervalMs: 1 });
    }
  } finally {
    await held[Symbol.asyncDispose]();
  }
  return Promise.all(answers);
}
