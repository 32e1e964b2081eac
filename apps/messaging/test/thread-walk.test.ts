import { type TestClock, testClock } from '@acsp/testkit';
import fc from 'fast-check';
import { type Messaging, startMessaging } from './harness.js';
import { compareAnswer, compareDetails, compareLists, compareRows, compareTraces } from './thread-walk/compare.js';
import { type Step, walk } from './thread-walk/step.js';
import { createWorld, takeStep } from './thread-walk/world.js';

let messaging: Messaging;
let clock: TestClock;
/** The number of times that each event and each refusal came up. */
const met = new Map<string, number>();

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock });
});
afterAll(() => messaging[Symbol.asyncDispose]());

async function walkBeside(steps: readonly Step[]): Promise<void> {
  const world = createWorld(messaging, clock);
  let position = 0;
  for (const step of steps) {
    const taken = await takeStep(world, step);
    compareAnswer(taken);
    position = await compareTraces(world, taken, position);
    await compareRows(world);
    if (taken.thread !== undefined) await compareDetails(world, taken.thread);
    for (const name of [taken.refused, ...taken.traces.map(({ type }) => type)])
      if (name !== undefined) met.set(name, (met.get(name) ?? 0) + 1);
  }
  for (const thread of world.made) await compareDetails(world, thread);
  await compareLists(world);
}

test('whatever agents do, answers, rows, lists and events are those of the pure rules', async () => {
  await fc.assert(fc.asyncProperty(walk, walkBeside), { numRuns: 25, interruptAfterTimeLimit: 100_000 });
}, 120_000);

test('the walks have been everywhere', () => {
  const verbs = ['created', 'offered', 'countered', 'accepted', 'rejected', 'informed', 'closed', 'expired'];
  const events = verbs.map((verb) => `thread.${verb}`);
  expect([...met.keys()]).toEqual(expect.arrayContaining([...events, 'INVALID_TRANSITION', 'THREAD_NOT_FOUND']));
});
