import type { Call } from '@acsp/operation';
import type { Context } from '../context.js';
import { readTask } from './known-tasks.js';
import type { TaskState } from './state.js';

interface Matching {
  readonly task_id: string;
  /** True when the claim may be made: one that will be refused asks nothing of search. */
  readonly isPossible: (task: TaskState | undefined) => boolean;
  readonly call: Call;
}

/** The similarity of the caller to a task, 0 to 1; null when search is absent, late or does not know the agent. A claim never fails for it. */
export async function matchScore(context: Context, { task_id, isPossible, call }: Matching): Promise<number | null> {
  const { config, search, database, known, log } = context;
  if (search === undefined) return null;
  // The known task may be stale, so a refusal is looked at again.
  if (!isPossible(known.get(task_id)?.task) && !isPossible(await readTask(context, task_id))) return null;
  try {
    const select = { title: true, description: true, requirements: true, tags: true } as const;
    const task = await database.prisma.task.findUniqueOrThrow({ where: { id: task_id }, select });
    const text = [task.title, task.description, ...task.requirements, ...task.tags].join('\n');
    const request = { aid: call.caller.aid ?? '', text };
    const { score } = await search.match(request, { call, timeoutMs: config.MATCH_TIMEOUT_MS });
    return score;
  } catch (error) {
    log.warn({ err: error, task: task_id }, 'a claim has no match_score');
    return null;
  }
}
