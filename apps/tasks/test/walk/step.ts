import fc from 'fast-check';
import { type Action, actions } from '../../src/task/decide.js';

export const agentCount = 4;

interface Acting {
  /** True chooses task, agent and action so that the rules allow the step, where they can be chosen so. */
  readonly fit: boolean;
  /** One of the agents, when it is not the rules that say who. */
  readonly who: number;
  /** Index of the task, from the newest; wraps around. */
  readonly task: number;
}

export interface Creation {
  readonly kind: 'create';
  readonly who: number;
  readonly max_claims: number;
  readonly target: number | null;
  readonly ttl_minutes: number;
}

/** Something that an agent does with a task. */
export type Deed = Acting &
  (
    | { readonly kind: 'claim' | 'delegate' | 'post' }
    | { readonly kind: 'resolve'; readonly claim: number; readonly accept: boolean }
    | { readonly kind: 'update'; readonly action: Action }
    | { readonly kind: 'submit'; readonly failed: boolean }
  );

export type Step = Creation | Deed | { readonly kind: 'wait'; readonly minutes: number } | { readonly kind: 'sweep' };

const who = fc.nat({ max: agentCount - 1 });
const acting = { fit: fc.constantFrom(true, true, true, false), who, task: fc.nat({ max: 5 }) };
const kind = <const K extends string>(name: K) => fc.constant(name);
const target = fc.oneof({ arbitrary: fc.constant(null), weight: 3 }, { arbitrary: who, weight: 1 });
/** Seldom cancel: it ends a walk of its task. */
const action = fc.constantFrom(...actions.filter((name) => name !== 'cancel'), ...actions);
const create = { kind: kind('create'), who, target, max_claims: fc.integer({ min: 1, max: 3 }) };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ ...create, ttl_minutes: fc.constantFrom(10, 60, 1440) }) },
  { weight: 8, arbitrary: fc.record({ kind: kind('claim'), ...acting }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: kind('resolve'), claim: fc.nat({ max: 3 }), accept: fc.boolean(), ...acting }),
  },
  { weight: 10, arbitrary: fc.record({ kind: kind('update'), action, ...acting }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('submit'), failed: fc.constantFrom(false, false, true), ...acting }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('delegate'), ...acting }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('post'), ...acting }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('wait'), minutes: fc.constantFrom(1, 10, 30) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('sweep') }) },
);

/** A walk begins with a task under review, one that is claimed and one with two pending claims, so that all steps find something from the start. */
const beginning: readonly Step[] = [
  { kind: 'create', who: 0, max_claims: 1, target: null, ttl_minutes: 60 },
  { kind: 'claim', fit: true, who: 1, task: 0 },
  { kind: 'submit', fit: true, who: 1, task: 0, failed: false },
  { kind: 'create', who: 0, max_claims: 1, target: null, ttl_minutes: 1440 },
  { kind: 'claim', fit: true, who: 2, task: 0 },
  { kind: 'create', who: 1, max_claims: 3, target: null, ttl_minutes: 10 },
  { kind: 'claim', fit: true, who: 2, task: 0 },
  { kind: 'claim', fit: true, who: 3, task: 0 },
];
/** And it ends with what has run out meanwhile. */
const end: readonly Step[] = [{ kind: 'wait', minutes: 60 }, { kind: 'sweep' }];
export const walk = fc.array(step, { minLength: 20, maxLength: 30 }).map((steps) => [...beginning, ...steps, ...end]);
