import type { Agent } from '@acsp/operation';
import { type Action, moves } from '../../src/task/decide.js';
import { includes, statusAt, submittable, terminal } from '../../src/task/state.js';
import type { Deed } from './step.js';
import { isPending, type Walked } from './walked.js';

export interface Chosen {
  readonly task: Walked;
  readonly agent: Agent;
  readonly action: Action;
  readonly claim_id: string | undefined;
}

interface Around {
  readonly made: readonly Walked[];
  readonly agents: readonly Agent[];
  readonly now: Date;
}

/** The task, agent, action and claim of a deed: those that its numbers name, or near to them such that the rules allow it. */
export function choose(deed: Deed, { made, agents, now }: Around): Chosen {
  const order = rotate([...made].reverse(), deed.task);
  const task = ((deed.fit && order.find((one) => suits(deed, one, now))) || order[0]) as Walked;
  const action = deed.kind === 'update' ? deed.action : 'start';
  const claims = deed.kind === 'resolve' ? rotate([...task.claims], deed.claim) : [];
  const [claim_id] = (deed.fit && claims.find(([, status]) => status === 'pending')) || claims[0] || [];
  const agent = (deed.fit && rightful(deed, { task, action, agents })) || (agents[deed.who] as Agent);
  return { task, agent, action, claim_id };
}

const rotate = <T>(list: readonly T[], by: number): T[] => list.map((_, i) => list[(i + by) % list.length] as T);

function suits(deed: Deed, { state }: Walked, now: Date): boolean {
  const status = statusAt(state, now);
  const waits = status === 'open' && state.claims.some(isPending);
  switch (deed.kind) {
    case 'claim':
      return status === 'open' && state.claims.length < state.max_claims;
    case 'resolve':
      return waits;
    case 'submit':
      return includes(submittable, status);
    case 'update':
      return moves[deed.action].from.includes(status) || (deed.action === 'unclaim' && waits);
    default:
      return !includes(terminal, status);
  }
}

/** Whom the rules let do it. */
function rightful(
  deed: Deed,
  { task, action, agents }: Pick<Chosen, 'task' | 'action'> & Pick<Around, 'agents'>,
): Agent | undefined {
  const { claims, creator_aid, target_aid, assigned_aid } = task.state;
  if (deed.kind === 'claim') {
    const holders = [creator_aid, ...claims.map(({ agent_aid }) => agent_aid)];
    return rotate(agents, deed.who).find(({ aid }) => (target_aid ?? aid) === aid && !holders.includes(aid));
  }
  const byHolder = deed.kind === 'submit' || (deed.kind === 'update' && moves[action].by === 'assignee');
  const aid = byHolder ? (assigned_aid ?? claims.find(isPending)?.agent_aid) : creator_aid;
  return agents.find((agent) => agent.aid === aid);
}
