import type { Agent } from '@acsp/operation';
import { type Action, includes, moves, statusAt, submittable, terminal } from '../../src/task/state.js';
import { liveClaims, type ModelClaim, type ModelTask } from './model.js';
import type { Deed } from './step.js';

export interface Chosen {
  readonly task: ModelTask;
  readonly agent: Agent;
  readonly action: Action;
  readonly claim: ModelClaim | undefined;
}

/** Which task, agent, action and claim a deed is about: those that its numbers name, or near to them such that the rules allow it. */
export function choose(
  deed: Deed,
  { made, agents, now }: { made: readonly ModelTask[]; agents: readonly Agent[]; now: Date },
): Chosen {
  const order = rotate([...made].reverse(), deed.task);
  const fits = (task: ModelTask) => suits(deed, task, now);
  const task = ((deed.fit && order.find(fits)) || order[0]) as ModelTask;
  const action = deed.kind === 'update' ? deed.action : 'start';
  const claims = deed.kind === 'resolve' ? rotate(task.claims, deed.claim) : [];
  const claim = (deed.fit && claims.find(isPending)) || claims[0];
  const agent =
    (deed.fit && rightful(deed.kind, { task, action, agents, from: deed.who })) || (agents[deed.who] as Agent);
  return { task, agent, action, claim };
}

const rotate = <T>(list: readonly T[], by: number): T[] => list.map((_, i) => list[(i + by) % list.length] as T);
const isPending = ({ status }: ModelClaim) => status === 'pending';

function suits(deed: Deed, task: ModelTask, now: Date): boolean {
  const status = statusAt(task, now);
  switch (deed.kind) {
    case 'claim':
      return status === 'open' && liveClaims(task).length < task.max_claims;
    case 'resolve':
      return status === 'open' && task.claims.some(isPending);
    case 'submit':
      return includes(submittable, status);
    case 'update':
      return (
        moves[deed.action].from.some((from) => from === status) ||
        (deed.action === 'unclaim' && task.claims.some(isPending))
      );
    default:
      return !includes(terminal, status);
  }
}

interface Choice {
  readonly task: ModelTask;
  readonly action: Action;
  readonly agents: readonly Agent[];
  /** Where to begin among the agents. */
  readonly from: number;
}

/** Whom the rules let do it. */
function rightful(kind: Deed['kind'], { task, action, agents, from }: Choice): Agent | undefined {
  if (kind === 'claim') {
    const holders = [task.creator, ...liveClaims(task).map(({ agent }) => agent)].map(({ aid }) => aid);
    return rotate(agents, from).find(({ aid }) => (task.target_aid ?? aid) === aid && !holders.includes(aid));
  }
  const held = task.assigned ?? task.claims.find(isPending)?.agent;
  if (kind === 'submit') return held;
  return kind === 'update' && moves[action].by === 'assignee' ? held : task.creator;
}
