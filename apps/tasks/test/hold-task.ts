import { eventually } from '@acsp/testkit';
import pg from 'pg';
import type { Tasks } from './harness.js';

export interface HeldTask extends AsyncDisposable {
  /** Resolves once so many statements stand before a lock. */
  waiting(statements: number): Promise<void>;
}

/** Locks a task's row until it is disposed, so that whatever changes the task has to wait. */
export async function holdTask({ databaseUrl }: Tasks, id: string): Promise<HeldTask> {
  // Two connections: inside of a transaction pg_stat_activity stays as it was at first sight.
  const [holder, watcher] = [1, 2].map(() => new pg.Client({ connectionString: databaseUrl })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([holder.connect(), watcher.connect()]);
  await holder.query('BEGIN');
  await holder.query('SELECT FROM task WHERE id = $1 FOR UPDATE', [id]);
  return {
    async waiting(statements) {
      await eventually(async () => (await countWaiting(watcher)) >= statements);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([holder.end(), watcher.end()]);
    },
  };
}

/** Lets requests come in one after the other until each stands before the lock: they queue in their order, and none saw another's change. */
export async function allAtOnce<T>(tasks: Tasks, id: string, requests: readonly (() => Promise<T>)[]): Promise<T[]> {
  const held = await holdTask(tasks, id);
  const answers: Promise<T>[] = [];
  try {
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
