import type { Departed } from '@acsp/service';
import type { Context } from '../context.js';
import { changeEach } from '../task/change-each.js';
import { decideClaimerGone, decideCreatorGone } from '../task/decide-end.js';

/** An agent is gone: its tasks are cancelled, its live claims withdrawn. */
export async function onAgentDeleted(context: Context, departed: Departed): Promise<void> {
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
