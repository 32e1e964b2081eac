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

/** Lets requests come in one after the other while the task is locked, so that none sees another's change before all are there. */
export async function allAtOnce<T>(services: readonly Tasks[], id: string, requests: readonly (() => Promise<T>)[]): Promise<T[]> {
  const held = await holdTask(services[0] as Tasks, id);
  const answers: Promise<T>[] = [];
  try {
    for (const request of requests) {
      const before = turnsOf(services, id);
      answers.push(request());
      await eventually(() => turnsOf(services, id).some((turn, index) => turn !== undefined && turn !== before[index]));
    }
  } finally {
    await held[Symbol.asyncDispose]();
  }
  return Promise.all(answers);
}

/** In each service the latest change of the task that waits or is being made. */
const turnsOf = (services: readonly Tasks[], id: string) => services.map(({ context }) => context.turns.get(id));
