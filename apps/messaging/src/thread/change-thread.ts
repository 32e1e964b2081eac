import { patience, type Transaction } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Call } from '@acsp/operation';
import { takeTurn } from '@acsp/time';
import type { Context } from '../context.js';
import { events } from '../events.js';
import { Prisma, type PrismaClient, type Thread } from '../generated/prisma/client.js';
import type { ThreadMessageType } from '../generated/prisma/enums.js';
import { type Action, decide } from './decide.js';
import { publicThreadId } from './present.js';

/** A thread without its offer, which no rule looks at. */
export type ThreadParts = Omit<Thread, 'initial_offer' | 'ttl_hours' | 'created_at'>;

export const partColumns = Prisma.raw(
  'id, initiator_aid, responder_aid, status, latest_offer_by, messages_count, updated_at, expires_at',
);

export interface Acted {
  readonly thread_id: string;
  readonly aid: string;
  readonly action: Action;
}

interface Changing<Answer> {
  readonly acted: Acted;
  /** Writes what else belongs to the change, and gives the answer of the operation, on the thread as it is afterwards. */
  readonly finish: (tx: Transaction<PrismaClient>, thread: ThreadParts) => Promise<Answer>;
}

/**
 * Carries out what an agent does with a thread. Changes of one thread in this process take their turns, so that one which is locked takes a single
 * connection, and those of other requests are free. Throws SERVICE_UNAVAILABLE where its turn comes too late.
 */
export async function changeThread<Answer>(
  context: Context,
  { acted, finish }: Changing<Answer>,
  call: Call,
): Promise<Answer> {
  const until = patience(call);
  const end = await takeTurn(context.turns, acted.thread_id);
  try {
    if (Date.now() >= until || call.signal.aborted) throw new AppError('SERVICE_UNAVAILABLE');
    return await context.database.transaction(call, async (tx) => finish(tx, await change(tx, acted, context)));
  } finally {
    end();
  }
}

/**
 * Answers the thread afterwards. Throws THREAD_NOT_FOUND for everybody but its participants.
 * Lock order: the row of one thread, then the key under which the answer is kept, which is the last thing that a transaction writes. The sweep locks
 * many threads and waits for none. So threads cannot deadlock.
 */
async function change(
  tx: Transaction<PrismaClient>,
  { thread_id, aid, action }: Acted,
  { clock }: Pick<Context, 'clock'>,
): Promise<ThreadParts> {
  const [thread] = await tx.$queryRaw<ThreadParts[]>`
    SELECT ${partColumns} FROM thread WHERE id = ${thread_id}::uuid AND ${aid} IN (initiator_aid, responder_aid) FOR NO KEY UPDATE`;
  if (thread === undefined) throw new AppError('THREAD_NOT_FOUND');
  const by = aid === thread.initiator_aid ? 'initiator' : 'responder';
  // The time is that of the lock: a thread may have run out while its change waited.
  const decision = decide(thread, { by, action, at: clock.now() });
  if ('refused' in decision) throw new AppError(decision.refused);
  const { set, event, number } = decision;
  const after = { ...thread, ...set };
  if (event === null) return after;
  await tx.thread.update({ where: { id: thread_id }, data: set, select: { id: true } });
  const message_type = action === 'close' || action === 'expire' ? null : action;
  const actor = action === 'expire' ? null : aid;
  const happened = { type: event, thread: after, previous_status: thread.status, number, message_type, actor };
  await events.emit(tx, threadEvent(happened));
  return after;
}

export interface Happened {
  readonly type: `thread.${string}`;
  /** As it is afterwards. */
  readonly thread: Pick<Thread, 'id' | 'initiator_aid' | 'responder_aid' | 'status'>;
  readonly actor: string | null;
  readonly previous_status?: Thread['status'];
  readonly number?: number | null;
  readonly message_type?: ThreadMessageType | null;
}

/** The event of a change, for both participants. */
export function threadEvent({ type, thread, actor, previous_status, number = null, message_type = null }: Happened) {
  const { id, initiator_aid, responder_aid, status } = thread;
  const payload = {
    ...{ thread_id: publicThreadId(id), initiator_aid, responder_aid, status },
    ...{ previous_status: previous_status ?? null, number, message_type, actor_aid: actor },
  };
  return { type, audience: [`agent:${initiator_aid}`, `agent:${responder_aid}`], actor, payload };
}
