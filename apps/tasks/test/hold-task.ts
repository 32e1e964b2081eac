import { eventually } from '@acsp/testkit';
import pg from 'pg';
import type { Tasks } from './harness.js';

export interface HeldTask extends AsyncDisposable {
  /** Resolves once so many statements stand before a lock. */
  waiting(statements: number): Promise<void>;
}

/** Locks a task's row until it is disposed, so that whatever changes the task has to wait. */
export async function holdTask({ databaseUrl }: Tasks, id: string): Promise<HeldTask> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM task WHERE id = $1 FOR UPDATE', [id]);
  return {
    async waiting(statements) {
      await eventually(async () => (await countWaiting(client)) >= statements);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Lets requests come in until each stands before the lock, so that all began before any was served. Gives their answers. */
export async function allAtOnce<T>(tasks: Tasks, id: string, requests: readonly (() => Promise<T>)[]): Promise<T[]> {
  const held = await holdTask(tasks, id);
  const answers: Promise<T>[] = [];
  try {
    // One after the other, so that they queue in their order.
    for (const request of requests) {
      answers.push(request());
      await held.waiting(answers.length);
    }
  } finally {
    await held[Symbol.asyncDispose]();
  }
  return Promise.all(answers);
}

async function countWaiting(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ waiting: number }>(
    `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
}
