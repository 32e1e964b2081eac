import type { Agent } from '@acsp/operation';
import type { TestClock } from '@acsp/testkit';
import { decideAction, decideSubmit, refuseMessage, refuseSubtask } from '../../src/task/decide.js';
import { decideClaim, decideResolve } from '../../src/task/decide-claim.js';
import { decideExpiry } from '../../src/task/decide-end.js';
import { expireTasks } from '../../src/task/expire-tasks.js';
import { actorOf } from '../../src/task/fields.js';
import { type Answer, agent, type Tasks } from '../harness.js';
import { unclaimed } from '../sample-tasks.js';
import { nowhere, stepsOf } from '../steps.js';
import { choose } from './fit.js';
import { agentCount, type Creation, type Deed, type Step } from './step.js';
import { created, follow, noted, type Outcome, type Walked } from './walked.js';

/** The service and the states that walk beside it. */
export interface World {
  readonly tasks: Tasks;
  readonly clock: TestClock;
  readonly agents: readonly Agent[];
  readonly made: Walked[];
}

export interface Taken {
  /** The decision of the rules about the step. */
  readonly outcome: Outcome;
  /** The answer of the service; absent where nobody asked. */
  readonly answer?: Answer;
  readonly task?: Walked;
}

export const createWorld = (tasks: Tasks, clock: TestClock): World => ({
  tasks,
  clock,
  agents: Array.from({ length: agentCount }, (_, n) => agent(`Agent ${n}`)),
  made: [],
});

/** Takes the step in the service, then beside it. */
export async function takeStep(world: World, step: Step): Promise<Taken> {
  const { tasks, clock, made } = world;
  if (step.kind === 'wait') {
    clock.advance(step.minutes * 60_000);
    return { outcome: { traces: [] } };
  }
  if (step.kind === 'sweep') {
    await expireTasks(tasks.context);
    const outcomes = made.map((task) => follow(task, decideExpiry(task.state, clock.now())));
    return { outcome: { traces: outcomes.flatMap((outcome) => ('traces' in outcome ? outcome.traces : [])) } };
  }
  return step.kind === 'create' ? create(world, step) : act(world, step);
}

async function create(world: World, { who, max_claims, target, ttl_minutes }: Creation): Promise<Taken> {
  const creator = world.agents[who] as Agent;
  const target_aid = target === null ? null : (world.agents[target]?.aid ?? null);
  const answer = await stepsOf(world.tasks).create(creator, { max_claims, target_aid, ttl_minutes });
  return { answer, ...add(world, creator, { id: answer.body.task.id, max_claims, target_aid, ttl_minutes }) };
}

function add({ made, clock }: World, creator: Agent, given: Partial<Walked['state']>) {
  const { aid: creator_aid, since: creator_since } = actorOf(creator);
  const { ttl_minutes = 1440 } = given;
  const expires_at = new Date(clock.now().getTime() + ttl_minutes * 60_000);
  const state = { ...unclaimed, version: 0, ...given, ttl_minutes, creator_aid, creator_since, expires_at };
  const task = created(creator, state);
  made.push(task);
  return { task, outcome: noted(task, 'task.created', null, creator) };
}

async function act(world: World, deed: Deed): Promise<Taken> {
  const { clock, tasks } = world;
  const [steps, at] = [stepsOf(tasks), clock.now()];
  const { task, agent: who, action, claim_id = nowhere } = choose(deed, { ...world, now: at });
  const { state, claims } = task;
  const by = { ...actorOf(who), at };
  switch (deed.kind) {
    case 'claim': {
      const answer = await steps.claim(who, state.id);
      const pitch = { claim_id: answer.body.claim?.id ?? nowhere, message: null, eta_minutes: null, match_score: null };
      return { task, answer, outcome: follow(task, decideClaim(state, { ...by, ...pitch })) };
    }
    case 'resolve': {
      const answer = await steps.resolve(who, state.id, claim_id, deed.accept ? 'accept' : 'reject');
      const outcome = follow(task, decideResolve(state, { ...by, claim_id, accept: deed.accept }));
      const isOver = 'refused' in outcome && outcome.refused === 'CLAIM_NOT_FOUND' && claims.has(claim_id);
      return { task, answer, outcome: isOver ? { refused: 'INVALID_TRANSITION' } : outcome };
    }
    case 'update': {
      const answer = await steps.update(who, state.id, action);
      return { task, answer, outcome: follow(task, decideAction(state, { ...by, action, comment: null })) };
    }
    case 'submit': {
      const { failed } = deed;
      const words = { result_text: '42 stones', result: null, failure_reason: null };
      const answer = await steps.submit(who, state.id, { failed });
      return { task, answer, outcome: follow(task, decideSubmit(state, { ...by, ...words, failed })) };
    }
    case 'delegate':
      return delegate(world, task, who);
    case 'post': {
      const answer = await steps.post(who, state.id);
      const refused = refuseMessage(state, by, at);
      if (refused !== undefined) return { task, answer, outcome: { refused } };
      task.messages += 1;
      return { task, answer, outcome: noted(task, 'task.message_posted', state.status, who) };
    }
  }
}

async function delegate(world: World, parent: Walked, creator: Agent): Promise<Taken> {
  const { state } = parent;
  const answer = await stepsOf(world.tasks).delegate(creator, state.id);
  const refused = refuseSubtask(state, actorOf(creator), world.clock.now());
  if (refused !== undefined) return { task: parent, answer, outcome: { refused } };
  parent.subtasks_count += 1;
  const { outcome } = add(world, creator, { id: answer.body.task.id, depth: state.depth + 1 });
  return { task: parent, answer, outcome };
}
