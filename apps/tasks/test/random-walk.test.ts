import { type TestClock, testClock } from '@acsp/testkit';
import fc from 'fast-check';
import { startTasks, type Tasks } from './harness.js';
import { compareAnswer, compareRows, compareTraces, type Mark, readTables } from './walk/compare.js';
import { type Step, walk } from './walk/step.js';
import { createWorld, takeStep } from './walk/world.js';

let tasks: Tasks;
let clock: TestClock;
/** The number of times that each event and each refusal came up. */
const met = new Map<string, number>();

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
});
afterAll(() => tasks[Symbol.asyncDispose]());

async function walkBeside(steps: readonly Step[]): Promise<void> {
  const world = createWorld(tasks, clock);
  const ended = new Map<string, string>();
  let mark: Mark = { event: 0, log: 0 };
  for (const step of steps) {
    const taken = await takeStep(world, step);
    await compareAnswer(world, taken);
    const tables = await readTables(world, mark);
    mark = compareTraces(tables, taken, mark);
    compareRows(tables, world, ended);
    const names = 'refused' in taken.outcome ? [taken.outcome.refused] : taken.outcome.traces.map(({ event }) => event);
    for (const name of names) met.set(name, (met.get(name) ?? 0) + 1);
  }
}

test('whatever agents do, answers, rows, log and events are those of the pure rules', async () => {
  await fc.assert(fc.asyncProperty(walk, walkBeside), { numRuns: 25, interruptAfterTimeLimit: 100_000 });
}, 120_000);

test('the walks have been everywhere', () => {
  const verbs =
    'created claimed claim_pending claim_rejected claim_withdrawn started unclaimed submitted failed approved rejected cancelled';
  const events = [...verbs.split(' '), 'expired', 'message_posted'].map((verb) => `task.${verb}`);
  const refusals = [
    'ALREADY_CLAIMED',
    'TASK_NOT_OPEN',
    'PERMISSION_DENIED',
    'INVALID_TRANSITION',
    'NOT_ASSIGNED',
    'INVALID_STATUS',
  ];
  expect([...met.keys()]).toEqual(expect.arrayContaining([...events, ...refusals]));
});
