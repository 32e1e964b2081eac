import { eventColumns, insertEvents } from '@acsp/bus';
import type { Transaction } from '@acsp/database';
import type { Context } from '../context.js';
import { events } from '../events.js';
import { Prisma, type PrismaClient } from '../generated/prisma/client.js';
import { partColumns, type ThreadParts, threadEvent } from './change-thread.js';
import { decideExpiry } from './decide.js';

const limit = 200;

/**
 * Writes down what readers already see: threads that ran out are expired. Each batch commits by itself. A thread that somebody has locked is left
 * for the next sweep, so that it keeps none of the others waiting.
 */
export async function expireThreads({ database, clock }: Context, signal?: AbortSignal): Promise<void> {
  for (let expired = limit; expired === limit && !signal?.aborted; ) {
    expired = await database.transaction(undefined, (tx) => expireBatch(tx, clock.now()));
  }
}

/** Answers how many threads are expired now that were not before. */
async function expireBatch(tx: Transaction<PrismaClient>, at: Date): Promise<number> {
  const threads = await tx.$queryRaw<ThreadParts[]>`
    SELECT ${partColumns} FROM thread WHERE status IN ('open', 'negotiating') AND expires_at <= ${at}::timestamptz
    ORDER BY expires_at LIMIT ${limit}::int FOR NO KEY UPDATE SKIP LOCKED`;
  const rows = threads.flatMap((thread) => rowOf(thread, at));
  if (rows.length > 0) await tx.$executeRaw(write(JSON.stringify(rows)));
  return rows.length;
}

function rowOf(thread: ThreadParts, at: Date) {
  const decision = decideExpiry(thread, at);
  if ('refused' in decision || decision.event === null) return [];
  const { set, event: type } = decision;
  const after = { ...thread, ...set };
  const event = threadEvent({ type, thread: after, previous_status: thread.status, actor: null });
  const { id, status, updated_at } = after;
  return [{ id, status, updated_at, ...events.row(event, at) }];
}

const columns = { id: 'uuid', status: 'thread_status', updated_at: 'timestamptz', ...eventColumns };
const typed = Prisma.raw(
  Object.entries(columns)
    .map((column) => column.join(' '))
    .join(', '),
);

/** One statement for the threads of a batch and their events. */
const write = (rows: string) => Prisma.sql`
  WITH input AS (SELECT * FROM json_to_recordset(${rows}::json) AS input (${typed})),
    ${Prisma.raw(insertEvents('input'))}
  UPDATE thread SET status = input.status, updated_at = input.updated_at FROM input WHERE thread.id = input.id`;
