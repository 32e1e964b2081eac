import type { Departed } from '@acsp/service';
import type { Context } from '../context.js';
import { announce } from '../presence/announce.js';
import { deleteSeen } from '../presence/records.js';

/** An agent is gone: it watches nobody, and nobody sees it. */
export async function onAgentDeleted(context: Context, { aid, registered_at }: Departed): Promise<void> {
  const life = { aid, since: registered_at };
  await deleteSeen(context, life);
  await announce(context, [life]);
  await context.database.prisma.presenceWatch.deleteMany({ where: { aid, since: { lte: registered_at } } });
}
