import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { emit, openPostgres, outboxMigrations, type Postgres, type RawExecutor } from '@acsp/database';
import { create, toJson } from '@bufbuild/protobuf';
import type pg from 'pg';
import { quietLog as log } from './quiet-log.js';

/** The database of a service of which only the outbox matters. */
export const openOutbox = (url: string): Postgres => openPostgres({ url, migrations: [outboxMigrations], log });

export async function emitTask(database: pg.Pool | pg.PoolClient, title: string): Promise<void> {
  const payload = toJson(TaskEventSchema, create(TaskEventSchema, { title }));
  await emit(executor(database), { type: 'task.created', audience: ['global'], payload });
}

export async function unpublished(pool: pg.Pool): Promise<number> {
  return (await pool.query('SELECT FROM bus.outbox WHERE published_at IS NULL')).rowCount ?? 0;
}

/** What of a Prisma client `emit` needs. */
function executor(database: pg.Pool | pg.PoolClient): RawExecutor {
  return {
    async $executeRaw(strings, ...values) {
      const text = strings.reduce((before, after, index) => `${before}$${index}${after}`);
      return (await database.query(text, values)).rowCount ?? 0;
    },
  };
}
