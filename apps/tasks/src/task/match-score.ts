import type { Context } from '../context.js';
import type { Claim, Task } from '../generated/prisma/client.js';

/** A claim is answered at this time at the latest, with or without a score. */
const timeoutMs = 300;

/** How well the claimer fits the task, 0 to 1, kept with the claim; null when search is absent, late or does not know the agent. */
export async function matchScore({ search, database }: Context, task: Task, claim: Claim): Promise<number | null> {
  if (search === undefined) return null;
  const text = [task.title, task.description, ...task.requirements, ...task.tags].join('\n');
  try {
    const { score } = await search.match({ aid: claim.agent_aid, text }, { timeoutMs });
    if (score === undefined) return null;
    await database.prisma.claim.update({ where: { id: claim.id }, data: { match_score: score } });
    return score;
  } catch {
    // A claim never fails for its score; the call is counted by the client.
    return null;
  }
}
