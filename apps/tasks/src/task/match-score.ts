import type { Call } from '@acsp/operation';
import type { Context } from '../context.js';

/** How well an agent fits a task, 0 to 1; null when search is absent, late or does not know the agent. A claim never fails for it. */
export async function matchScore(context: Context, task_id: string, call: Call): Promise<number | null> {
  const { config, search, database, log } = context;
  if (search === undefined) return null;
  try {
    const task = await database.prisma.task.findUnique({ where: { id: task_id } });
    if (task === null) return null;
    const text = [task.title, task.description, ...task.requirements, ...task.tags].join('\n');
    const request = { aid: call.caller.aid ?? '', text };
    const { score } = await search.match(request, { call, timeoutMs: config.MATCH_TIMEOUT_MS });
    return score;
  } catch (error) {
    log.warn({ err: error, task: task_id }, 'a claim has no match_score');
    return null;
  }
}
