import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { openPostgres, type Postgres, type RawExecutor } from '@acsp/database';
import { fromMessage, type PublicOf } from '@acsp/operation';
import { quietLog as log } from '@acsp/testkit';
import { create } from '@bufbuild/protobuf';
import type pg from 'pg';
import { defineEvents, outboxMigrations } from '../src/index.js';

export const taskEvents = defineEvents({ task: TaskEventSchema });

/** The database of a service of which only the tables of this package matter. */
export const openOutbox = (url: string, name = 'test'): Postgres =>
  openPostgres({ url, name, migrations: [outboxMigrations], log });

export const taskPayload = (title: string) =>
  fromMessage(TaskEventSchema, create(TaskEventSchema, { title })) as PublicOf<typeof TaskEventSchema>;

export async function emitTask(database: pg.Pool | pg.PoolClient, title: string): Promise<void> {
  const event = { type: 'task.created', audience: ['global'], actor: null, payload: taskPayload(title) } as const;
  await taskEvents.emit(executor(database), event);
}

export async function unpublished(pool: pg.Pool): Promise<number> {
  return (await pool.query('SELECT FROM bus.outbox WHERE published_at IS NULL')).rowCount ?? 0;
}

/** The part of a Prisma client that `emit` needs. */
export function executor(database: pg.Pool | pg.PoolClient): RawExecutor {
  return {
    async $executeRaw(strings, ...values) {
      const text = strings.reduce((before, after, index) => `${before}$${index}${after}`);
      return (await database.query(text, values)).rowCount ?? 0;
    },
  };
}
