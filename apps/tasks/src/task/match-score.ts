import type { Context } from '../context.js';
import type { Claim } from '../generated/prisma/client.js';

/** How well the claimer fits the task, 0 to 1, kept with the claim; null when search is absent, late or does not know the agent. */
export async function matchScore(
  { config, search, database: { prisma }, log }: Context,
  claim: Pick<Claim, 'id' | 'task_id' | 'agent_aid'>,
): Promise<number | null> {
  if (search === undefined) return null;
  const { id, task_id } = claim;
  try {
    const task = await prisma.task.findUniqueOrThrow({ where: { id: task_id } });
    const text = [task.title, task.description, ...task.requirements, ...task.tags].join('\n');
    const { score } = await search.match({ aid: claim.agent_aid, text }, { timeoutMs: config.MATCH_TIMEOUT_MS });
    if (score === undefined) return null;
    await prisma.claim.update({ where: { task_id_id: { task_id, id } }, data: { match_score: score } });
    return score;
  } catch (error) {
    // A claim never fails for its score.
    log.warn({ err: error, claim: id }, 'no match_score');
    return null;
  }
}
