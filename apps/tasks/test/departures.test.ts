import type { Agent } from '@acsp/operation';
import { deletionOf, type TestClock, testClock } from '@acsp/testkit';
import { agent, startTasks, type Tasks } from './harness.js';
import { holdTask } from './hold-task.js';
import { type Steps, stepsOf, taskIn } from './steps.js';
import { tracesOf } from './traces.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const [ann, bob] = [agent('Ann'), agent('Bob')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

/** Two lives of one agent: it was deleted and has registered again. */
function twoLives(): [former: Agent, back: Agent] {
  const former = agent('Gone');
  return [former, { ...former, registeredAt: clock.now().getTime() }];
}
const remove = (former: Agent) => tasks.running.departures.onDeleted(deletionOf(former, clock.now()));
const sweep = () => tasks.running.departures.sweep();
const statusOf = async (id: string) => (await steps.details(ann, id)).body.task.status;
const departuresOf = async ({ aid }: Agent) =>
  (await tasks.context.database.pool.query('SELECT FROM bus.departure WHERE aid = $1', [aid])).rowCount;

describe('R3: an old deletion does not touch the new life of its agent', () => {
  test('neither its tasks nor its claims', async () => {
    const [former, back] = twoLives();
    const [old, made] = [await steps.created(former), await steps.created(back)];
    const oldHeld = await taskIn(steps, 'in_progress', { creator: ann, worker: former });
    const held = await taskIn(steps, 'in_progress', { creator: ann, worker: back });
    const several = await steps.created(ann, { max_claims: 3 });
    await steps.claim(back, several);
    const before = await Promise.all([made, held, several].map((id) => tracesOf(tasks, id)));
    await remove(former);
    await sweep();
    expect(await Promise.all([old, oldHeld].map(statusOf))).toEqual(['cancelled', 'open']);
    expect(await Promise.all([made, held, several].map(statusOf))).toEqual(['open', 'in_progress', 'open']);
    expect((await steps.details(ann, several)).body.claims).toMatchObject([{ status: 'pending' }]);
    expect(await Promise.all([made, held, several].map((id) => tracesOf(tasks, id)))).toEqual(before);
  });

  test('and the deletion of the new life ends both', async () => {
    const [former, back] = twoLives();
    const made = [await steps.created(former), await steps.created(back)];
    await remove(back);
    expect(await Promise.all(made.map(statusOf))).toEqual(['cancelled', 'cancelled']);
  });
});

describe('R4: what commits behind the deletion', () => {
  test('is cleared away by the next sweep, and nothing of the new life', async () => {
    const [former, back] = twoLives();
    await remove(former);
    const [late, work] = [await steps.created(former), await steps.created(ann)];
    await steps.claim(former, work);
    await steps.update(former, work, 'start');
    const several = await steps.created(ann, { max_claims: 3 });
    await steps.claim(former, several);
    const [made, held] = [
      await steps.created(back),
      await taskIn(steps, 'claimed', { creator: ann, worker: back }),
    ] as const;
    await sweep();
    expect(await Promise.all([late, work, several].map(statusOf))).toEqual(['cancelled', 'open', 'open']);
    expect((await steps.details(ann, several)).body.claims).toMatchObject([{ status: 'withdrawn' }]);
    expect(await Promise.all([made, held].map(statusOf))).toEqual(['open', 'claimed']);
    expect((await steps.update(ann, work, 'cancel')).status).toBe(200);
  });

  test('is looked for during 80 seconds, and not after', async () => {
    const [former] = twoLives();
    await remove(former);
    clock.advance(79_999);
    const late = await steps.created(former);
    await sweep();
    expect([await statusOf(late), await departuresOf(former)]).toEqual(['cancelled', 1]);
    clock.advance(1);
    const last = await steps.created(former);
    await sweep();
    expect([await statusOf(last), await departuresOf(former)]).toEqual(['cancelled', 0]);
    await sweep();
  });

  test('is cleared away although a task of another departed agent is locked', async () => {
    const [[first], [second]] = [twoLives(), twoLives()];
    for (const former of [first, second]) await remove(former);
    const late = [await steps.created(first), await steps.created(second)] as const;
    const held = await holdTask(tasks, late[0]);
    await expect(sweep()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await Promise.all(late.map(statusOf))).toEqual(['open', 'cancelled']);
    await held[Symbol.asyncDispose]();
    await sweep();
    expect(await Promise.all(late.map(statusOf))).toEqual(['cancelled', 'cancelled']);
  });
});

test('a repeated deletion, and a sweep where nothing was left, leave no trace', async () => {
  const [former] = twoLives();
  const id = await taskIn(steps, 'claimed', { creator: former, worker: bob });
  await remove(former);
  const before = await tracesOf(tasks, id);
  await remove(former);
  await sweep();
  expect(await tracesOf(tasks, id)).toEqual(before);
});
