import fc from 'fast-check';
import type { Action } from '../../src/thread/decide.js';

export const agentCount = 3;

export type Step =
  | { readonly kind: 'create'; readonly initiator: number; readonly responder: number; readonly minutes: number }
  /** The thread counts from the newest, and wraps around. */
  | { readonly kind: 'act'; readonly thread: number; readonly who: Actor; readonly action: Action }
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'sweep' };

/** The third agent, which is on neither side, is a stranger to the thread. */
export type Actor = 'initiator' | 'responder' | 'stranger';

const pair = fc.constantFrom(
  ...([
    [0, 1],
    [1, 0],
    [0, 2],
    [2, 1],
  ] as const),
);
const creation = fc
  .record({ pair, minutes: fc.constantFrom(10, 60, 1440) })
  .map(({ pair: [initiator, responder], minutes }): Step => ({ kind: 'create', initiator, responder, minutes }));

/** Seldom what ends a thread: it ends the walk of it. */
const action = fc.constantFrom<Action>(
  ...(['offer', 'counter', 'info', 'offer', 'counter', 'info', 'offer', 'counter', 'info', 'expire'] as const),
  ...(['accept', 'reject', 'close', 'expire', 'accept'] as const),
);
const who = fc.constantFrom<Actor>(
  ...(['initiator', 'responder', 'initiator', 'responder', 'responder'] as const),
  'stranger',
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: creation },
  { weight: 14, arbitrary: fc.record({ kind: fc.constant('act' as const), thread: fc.nat({ max: 3 }), who, action }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 10, 30) }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'sweep' }) },
);

const beginning: readonly Step[] = [
  { kind: 'create', initiator: 0, responder: 1, minutes: 60 },
  { kind: 'create', initiator: 1, responder: 2, minutes: 10 },
];
/** A walk ends with what has run out meanwhile. */
const end: readonly Step[] = [
  { kind: 'wait', minutes: 30 },
  { kind: 'act', thread: 0, who: 'responder', action: 'expire' },
  { kind: 'wait', minutes: 30 },
  { kind: 'sweep' },
];
export const walk = fc.array(step, { minLength: 20, maxLength: 35 }).map((steps) => [...beginning, ...steps, ...end]);
