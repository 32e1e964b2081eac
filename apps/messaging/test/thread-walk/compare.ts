import { catalogue } from '@acsp/errors';
import { statuses, threadAt } from '../../src/thread/decide.js';
import { threadsOf, uuidOf } from '../threads.js';
import type { Taken, Trace, Walked, World } from './world.js';

/** The answer is that of the rules. */
export function compareAnswer({ answer, refused }: Taken): void {
  if (answer === undefined) return;
  const { status, body } = answer;
  if (refused === undefined) expect([200, 201]).toContain(status);
  else expect([status, body.code]).toEqual([catalogue[refused].http, refused]);
}

/** Rows are as the rules have them. */
export async function compareRows({ messaging, made }: World): Promise<void> {
  const ids = made.map(({ thread_id }) => uuidOf(thread_id));
  const rows = await messaging.context.database.prisma.thread.findMany({ where: { id: { in: ids } } });
  const byId = new Map(rows.map((row) => [`thr_${row.id}`, row]));
  expect(made.map(({ thread_id }) => byId.get(thread_id))).toMatchObject(made.map(({ state }) => state));
}

/** Either participant sees what the rules see: a thread that ran out is expired. */
export async function compareDetails({ messaging, clock }: World, { thread_id, ...walked }: Walked): Promise<void> {
  const { initiator, responder, state, messages } = walked;
  const { status, updated_at } = threadAt(state, clock.now());
  for (const who of [initiator, responder]) {
    const { body } = await threadsOf(messaging).details(who, thread_id);
    const thread = { thread_id, status, messages_count: messages.length, updated_at: updated_at.toISOString() };
    expect(body.thread).toMatchObject(thread);
    expect(body.messages).toMatchObject(messages.map((message, n) => ({ ...message, number: n + 1 })));
    expect(body.messages).toHaveLength(messages.length);
  }
}

/** Lists of every agent and status have the threads that the rules see there, newest first. */
export async function compareLists({ messaging, clock, agents, made }: World): Promise<void> {
  for (const agent of agents) {
    const own = made.filter(({ initiator, responder }) => initiator === agent || responder === agent).reverse();
    for (const status of [undefined, ...statuses]) {
      const seen = ({ state }: Walked) => status === undefined || threadAt(state, clock.now()).status === status;
      const ids = own.filter(seen).map(({ thread_id }) => thread_id);
      const { body } = await threadsOf(messaging).list(
        agent,
        `limit=100${status === undefined ? '' : `&status=${status}`}`,
      );
      const listed = body.threads.map(({ thread_id }: Walked) => thread_id);
      expect([status, listed, body.total]).toEqual([status, ids, ids.length]);
    }
  }
}

/** Since a position of the outbox the step left one event for each change, and none for anything else. Answers the position for the next step. */
export async function compareTraces({ messaging, made }: World, { traces }: Taken, since: number): Promise<number> {
  const found = await messaging.context.database.prisma.$queryRaw<(Trace & { position: number })[]>`
    SELECT position::int, type, actor, payload->>'thread_id' AS thread_id, payload->>'status' AS status,
      payload->>'previous_status' AS previous_status, (payload->>'number')::int AS number
    FROM bus.outbox WHERE position > ${since} AND payload->>'thread_id' = ANY (${made.map(({ thread_id }) => thread_id)})
    ORDER BY position`;
  expect(inOrder(found.map(({ position: _position, ...trace }) => trace))).toEqual(inOrder(traces));
  return found.at(-1)?.position ?? since;
}

/** The threads that a sweep ends have no order among each other. */
const inOrder = (traces: readonly Trace[]) => [...traces].sort((a, b) => a.thread_id.localeCompare(b.thread_id));
