import { payloadOf } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Context } from '../context.js';
import { changeEach } from '../task/change-each.js';
import { type Departed, decideClaimerGone, decideCreatorGone } from '../task/decide-end.js';

/** A principal is good for a minute and ten seconds, and a statement ends within eight: after that nothing of a former life can commit. */
const inFlightMs = 80_000;

/** An agent is gone: its tasks are cancelled, its live claims withdrawn. It concerns that life of the agent alone, however late the event comes. */
export async function onAgentDeleted(context: Context, event: Event): Promise<void> {
  const { aid, registered_at } = payloadOf(AgentEventSchema, event);
  const departed = { aid, registered_at: registered_at ?? new Date(0) };
  const deleted_at = event.occurredAt === undefined ? context.clock.now() : timestampDate(event.occurredAt);
  // Prisma's upsert is not atomic here: of two replicas that handle one deletion at once the second would fail.
  await context.database.prisma.departure.createMany({ data: [{ ...departed, deleted_at }], skipDuplicates: true });
  await clearAway(context, departed);
}

/** Clears away again what requests that were in flight have left behind the deletion, until none can be. */
export async function sweepDepartures(context: Context, signal?: AbortSignal): Promise<void> {
  const { departure } = context.database.prisma;
  const over = new Date(context.clock.now().getTime() - inFlightMs);
  const failures: unknown[] = [];
  for (const { aid, registered_at, deleted_at } of await departure.findMany({ orderBy: { deleted_at: 'asc' } })) {
    if (signal?.aborted) return;
    try {
      await clearAway(context, { aid, registered_at });
      if (deleted_at <= over) await departure.deleteMany({ where: { aid, registered_at } });
    } catch (error) {
      // A task of one agent that is locked must not keep the others waiting.
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function clearAway(context: Context, departed: Departed): Promise<void> {
  const { prisma } = context.database;
  const { aid, registered_at } = departed;
  await changeEach(context, {
    find: ({ after, limit }) => prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM task WHERE creator_aid = ${aid} AND creator_since <= ${registered_at}::timestamptz
        AND status IN ('open', 'claimed', 'in_progress', 'review') AND id > ${after}::uuid
      ORDER BY id LIMIT ${limit}::int`,
    decide: (task, at) => decideCreatorGone(task, departed, at),
  });
  await changeEach(context, {
    find: ({ after, limit }) => prisma.$queryRaw<{ id: string }[]>`
      SELECT task.id FROM claim JOIN task ON task.id = claim.task_id
      WHERE agent_aid = ${aid} AND agent_since <= ${registered_at}::timestamptz AND claim.status IN ('pending', 'accepted')
        AND task.status IN ('open', 'claimed', 'in_progress') AND task.id > ${after}::uuid
      ORDER BY task.id LIMIT ${limit}::int`,
    decide: (task, at) => decideClaimerGone(task, departed, at),
  });
}
