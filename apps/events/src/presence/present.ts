import type { Life } from '@acsp/operation';
import type { Context } from '../context.js';
import { readSeen } from './records.js';
import { statusAt } from './rules.js';

/** The presence of an agent as anybody may see it; one whom nobody knows is offline too. */
export async function presentPresence(context: Context, aid: string, since: Date | undefined) {
  const seen = since && (await readSeen(context, { aid, since } satisfies Life));
  return { aid, status: statusAt(context.clock.now(), seen), last_seen: seen?.last_seen ?? null };
}
