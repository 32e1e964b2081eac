import type { Agent } from '@acsp/operation';
import type { TestClock } from '@acsp/testkit';
import { expireTasks } from '../../src/task/expire-tasks.js';
import { type Answer, agent, type Tasks } from '../harness.js';
import { nowhere, stepsOf } from '../steps.js';
import { choose } from './fit.js';
import type { ModelTask, Outcome } from './model.js';
import * as model from './model.js';
import { agentCount, type Creation, type Deed, type Step } from './step.js';

/** The service and the model of it that walk side by side. */
export interface World {
  readonly tasks: Tasks;
  readonly clock: TestClock;
  readonly agents: readonly Agent[];
  readonly made: ModelTask[];
}

export interface Taken {
  /** What the model says of the step. */
  readonly outcome: Outcome;
  /** What the service answered; absent where nobody asked. */
  readonly answer: Answer | undefined;
  readonly task: ModelTask | undefined;
}

export const createWorld = (tasks: Tasks, clock: TestClock): World => ({
  tasks,
  clock,
  agents: Array.from({ length: agentCount }, (_, n) => agent(`Agent ${n}`)),
  made: [],
});

/** Takes the step in the service, then in the model. */
export async function takeStep(world: World, step: Step): Promise<Taken> {
  const { tasks, clock, made } = world;
  const now = clock.now();
  if (step.kind === 'wait') {
    clock.advance(step.minutes * 60_000);
    return { outcome: { changes: [] }, answer: undefined, task: undefined };
  }
  if (step.kind === 'sweep') {
    await expireTasks(tasks.context);
    return { outcome: model.sweep(made, now), answer: undefined, task: undefined };
  }
  if (step.kind === 'create') return create(world, step);
  return act(world, step);
}

async function create(world: World, { who, max_claims, target, ttl_minutes }: Creation): Promise<Taken> {
  const creator = world.agents[who] as Agent;
  const target_aid = target === null ? null : (world.agents[target]?.aid ?? null);
  const answer = await stepsOf(world.tasks).create(creator, { max_claims, target_aid, ttl_minutes });
  const task = newTask(answer, { creator, max_claims, target_aid, ttlMs: ttl_minutes * 60_000, depth: 1 }, world);
  world.made.push(task);
  return { outcome: model.creation(task), answer, task };
}

type Given = Pick<ModelTask, 'creator' | 'max_claims' | 'target_aid' | 'ttlMs' | 'depth'>;

const newTask = ({ body }: Answer, given: Given, { clock }: World): ModelTask => ({
  ...given,
  ...{ id: body.task?.id ?? nowhere, status: 'open', assigned: null, subtasks_count: 0, messages: 1, claims: [] },
  expires_at: new Date(clock.now().getTime() + given.ttlMs),
});

async function act(world: World, deed: Deed): Promise<Taken> {
  const steps = stepsOf(world.tasks);
  const now = world.clock.now();
  const { task, agent: who, action, claim } = choose(deed, { ...world, now });
  switch (deed.kind) {
    case 'claim': {
      const answer = await steps.claim(who, task.id);
      return { task, answer, outcome: model.claim(task, who, now, answer.body.claim?.id) };
    }
    case 'resolve': {
      const resolution = { claimId: claim?.id ?? nowhere, accept: deed.accept };
      const answer = await steps.resolve(who, task.id, resolution.claimId, deed.accept ? 'accept' : 'reject');
      return { task, answer, outcome: model.resolve(task, who, now, resolution) };
    }
    case 'update': {
      const answer = await steps.update(who, task.id, action);
      return { task, answer, outcome: model.update(task, who, now, action) };
    }
    case 'submit': {
      const answer = await steps.submit(who, task.id, { failed: deed.failed });
      return { task, answer, outcome: model.submit(task, who, now, deed.failed) };
    }
    case 'delegate':
      return delegate(world, task, who);
    case 'post':
      return { task, answer: await steps.post(who, task.id), outcome: model.post(task, who, now) };
  }
}

async function delegate(world: World, parent: ModelTask, creator: Agent): Promise<Taken> {
  const answer = await stepsOf(world.tasks).delegate(creator, parent.id);
  const given = { creator, max_claims: 1, target_aid: null, ttlMs: 1440 * 60_000, depth: parent.depth + 1 };
  const child = newTask(answer, given, world);
  const outcome = model.delegation(parent, creator, world.clock.now(), child);
  if ('changes' in outcome) world.made.push(child);
  return { task: parent, answer, outcome };
}
