import { type TestClock, testClock } from '@acsp/testkit';
import { agent, startTasks, type Tasks } from './harness.js';
import { type Steps, stepsOf, taskIn } from './steps.js';
import { tracesOf } from './traces.js';

// A change that a replica decides on a task which another replica has changed meanwhile is as right as one that is decided on the row.

let clock: TestClock;
let [first, second]: Tasks[] = [];
let [here, there]: [Steps, Steps] = [] as unknown as [Steps, Steps];
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  clock = testClock();
  first = await startTasks({ clock });
  second = await startTasks({ clock, databaseUrl: first.databaseUrl });
  [here, there] = [stepsOf(first), stepsOf(second)];
});
afterAll(async () => {
  await second?.[Symbol.asyncDispose]();
  await first?.[Symbol.asyncDispose]();
});

const code = ({ status, body }: { status: number; body: { code?: string } }) => body.code ?? status;
/** The status that this replica still believes. */
const believed = (id: string) => first?.context.known.get(id)?.task.status;
const typesOf = async (id: string) => (await tracesOf(first as Tasks, id)).events.map(({ type }) => type);

test('an agent that claimed there starts here, where the task is believed to be open', async () => {
  const id = await here.created(ann);
  await there.claim(bob, id);
  expect(believed(id)).toBe('open');
  expect(code(await here.update(bob, id, 'start'))).toBe(200);
  expect(await typesOf(id)).toEqual(['task.created', 'task.claimed', 'task.started']);
});

test('a task that was claimed there is not open here, and nobody is told that it was open a moment ago', async () => {
  const id = await here.created(ann);
  await there.claim(bob, id);
  expect(believed(id)).toBe('open');
  expect(code(await here.claim(eve, id))).toBe('TASK_NOT_OPEN');
  expect(code(await here.claim(bob, id))).toBe('ALREADY_CLAIMED');
  expect(await typesOf(id)).toEqual(['task.created', 'task.claimed']);
});

test('a task that was given back there is claimed here, where it is believed to be claimed', async () => {
  const id = await taskIn(here, 'claimed', { creator: ann, worker: bob });
  await there.update(bob, id, 'unclaim');
  expect(believed(id)).toBe('claimed');
  const { body } = await here.claim(eve, id);
  expect(body).toMatchObject({ task_status: 'claimed', claim: { agent_aid: eve.aid, status: 'accepted' } });
});

test('a task in progress there is not cancelled here, where it is believed to be open', async () => {
  const id = await here.created(ann);
  await there.claim(bob, id);
  await there.update(bob, id, 'start');
  expect(believed(id)).toBe('open');
  expect(code(await here.update(ann, id, 'cancel'))).toBe('INVALID_TRANSITION');
  expect(code(await here.submit(bob, id))).toBe(200);
  expect((await there.details(ann, id)).body.task).toMatchObject({ status: 'review', assigned_aid: bob.aid });
});

test('claims that came in there count here', async () => {
  const id = await here.created(ann, { max_claims: 2 });
  const { claim } = (await there.claim(bob, id)).body;
  await there.claim(eve, id);
  expect(code(await here.claim(agent('Zoe'), id))).toBe('MAX_CLAIMS_REACHED');
  expect(code(await here.resolve(ann, id, claim.id, 'accept'))).toBe(200);
  const { claims } = (await there.details(ann, id)).body;
  expect(claims.map(({ status }: { status: string }) => status)).toEqual(['accepted', 'rejected']);
});

test('a parent that was closed there takes neither subtasks nor messages here', async () => {
  const id = await here.created(ann);
  await there.update(ann, id, 'cancel');
  expect(believed(id)).toBe('open');
  expect(code(await here.delegate(ann, id))).toBe('PARENT_CLOSED');
  expect(code(await here.post(ann, id))).toBe('TASK_CLOSED');
});

test('changes that two replicas make in turn are all kept, each once', async () => {
  const id = await here.created(ann);
  const rounds = 10;
  for (let round = 0; round < rounds; round += 1) {
    const [one, other] = round % 2 ? [here, there] : [there, here];
    expect(code(await one.claim(bob, id))).toBe(200);
    expect(code(await other.update(bob, id, 'unclaim'))).toBe(200);
  }
  const expected = ['task.created', ...Array.from({ length: rounds }, () => ['task.claimed', 'task.unclaimed'])].flat();
  expect(await typesOf(id)).toEqual(expected);
  const row = await first?.context.database.prisma.task.findUniqueOrThrow({ where: { id } });
  expect(row).toMatchObject({ version: 2 * rounds, status: 'open', claims_count: 0 });
});

test('the thread shows notices and messages in the order of the changes where the clock of a replica is slow', async () => {
  await using slow = await startTasks({
    clock: testClock(clock.now().getTime() - 10_000),
    databaseUrl: first?.databaseUrl,
  });
  const late = stepsOf(slow);
  const id = await here.created(ann);
  await late.claim(bob, id);
  await here.update(bob, id, 'start');
  await late.post(bob, id, { content: 'at work' });
  await here.submit(bob, id);
  const { messages } = (await here.details(ann, id)).body;
  expect(
    messages.map(
      ({ metadata, content }: { metadata: { event?: string }; content: string }) => metadata.event ?? content,
    ),
  ).toEqual(['task.created', 'task.claimed', 'task.started', 'at work', 'task.submitted']);
});
