import { deletionOf, type TestClock, testClock } from '@acsp/testkit';
import { claimTask } from '../src/operations/claim-task.js';
import { expireTasks } from '../src/task/expire-tasks.js';
import { type Answer, agent, callDirectly, startTasks, type Tasks } from './harness.js';
import { allAtOnce } from './hold-task.js';
import { type Steps, stepsOf } from './steps.js';
import { tracesOf } from './traces.js';
import { expectTrueTables } from './true-tables.js';

let tasks: Tasks;
let steps: Steps;
let others: Tasks;
/** Services on one database, `tasks` and `others` among them. In one service changes of a task wait for each other before they reach its lock. */
let services: Tasks[];
let clock: TestClock;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  const start = () => startTasks({ clock, databaseUrl: tasks.databaseUrl });
  services = [tasks, ...(await Promise.all([start(), start(), start(), start()]))];
  others = at(1);
  steps = stepsOf(tasks);
  // The first request of a service takes longer than all others.
  await Promise.all(services.map((service) => stepsOf(service).created(ann)));
});
afterAll(async () => {
  for (const service of services.reverse()) await service[Symbol.asyncDispose]();
});
afterEach(() => expectTrueTables((text) => tasks.context.database.prisma.$queryRawUnsafe(text)));

const at = (index: number) => services[index] as Tasks;

const codes = (answers: Answer[]) => answers.map(({ status, body }) => (status === 200 ? 'claimed' : body.code));
const count = (list: string[], item: string) => list.filter((other) => other === item).length;
const detailsOf = async (id: string) => (await steps.details(ann, id)).body;

describe.each(['one service', 'two services on one database'])('100 agents claim one task at once, %s', (kind) => {
  test('one gets it, ninety-nine are refused, and there is one event', async () => {
    const id = await steps.created(ann);
    const doors = kind === 'one service' ? [steps] : [steps, stepsOf(others)];
    const agents = Array.from({ length: 100 }, (_, n) => agent(`Agent ${n}`));
    const answers = await Promise.all(agents.map((who, n) => (doors[n % doors.length] as Steps).claim(who, id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = codes(answers).filter((code) => code !== 'claimed');
    expect(new Set([...refused, 'TASK_NOT_OPEN', 'TASK_ALREADY_ASSIGNED']).size).toBe(2);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);

    const winner = agents[answers.findIndex(({ status }) => status === 200)];
    const { task, claims } = await detailsOf(id);
    expect(task).toMatchObject({ status: 'claimed', assigned_aid: winner?.aid, claims_count: 1 });
    expect(claims).toMatchObject([{ agent_aid: winner?.aid, status: 'accepted' }]);
    const { events, log, said } = await tracesOf(tasks, id);
    expect(events.map(({ type }) => type)).toEqual(['task.created', 'task.claimed']);
    expect([log.length, said.length]).toEqual([2, 2]);
  });
});

describe('who asked while the task was open and lost is told that somebody else has it', () => {
  const agents = Array.from({ length: 5 }, (_, n) => agent(`Agent ${n}`));
  const onceAssigned = [...Array(4).fill('TASK_ALREADY_ASSIGNED'), 'claimed'];

  test('by five services on one database', async () => {
    const id = await steps.created(ann);
    const claims = agents.map((who, n) => () => stepsOf(at(n)).claim(who, id));
    expect(codes(await allAtOnce(services, id, claims)).sort()).toEqual(onceAssigned);
    expect(codes([await steps.claim(eve, id)])).toEqual(['TASK_NOT_OPEN']);
  });

  test('by one service', async () => {
    const taskId = await steps.created(ann);
    const claims = agents.map((who) => callDirectly(tasks, claimTask, { caller: who, fields: { task_id: taskId } }));
    const found = await Promise.all(claims.map((claim) => claim.then(() => 'claimed').catch(({ code }) => code)));
    expect(found.sort()).toEqual(onceAssigned);
    expect(codes([await steps.claim(eve, taskId)])).toEqual(['TASK_NOT_OPEN']);
  });
});

test('claims that wait while the creator accepts another one are told that somebody else has it', async () => {
  const id = await steps.created(ann, { max_claims: 5 });
  const { claim } = (await steps.claim(bob, id)).body;
  const late = [eve, agent('Zoe')].map((who) => () => steps.claim(who, id));
  const [accepted, ...lost] = await allAtOnce(services, id, [
    () => steps.resolve(ann, id, claim.id, 'accept'),
    ...late,
  ]);
  expect(accepted?.status).toBe(200);
  expect(codes(lost)).toEqual(['TASK_ALREADY_ASSIGNED', 'TASK_ALREADY_ASSIGNED']);
});

test('claims of a task that is long taken are told that it is not open, whatever else changes meanwhile', async () => {
  const id = await steps.created(ann);
  await steps.claim(bob, id);
  const changes = Array.from({ length: 20 }, (_, n) => stepsOf(at(n % 5)).delegate(ann, id));
  const claims = Array.from({ length: 20 }, (_, n) => stepsOf(at(n % 5)).claim(agent(`Agent ${n}`), id));
  expect(new Set(codes(await Promise.all(claims)))).toEqual(new Set(['TASK_NOT_OPEN']));
  expect((await Promise.all(changes)).every(({ status }) => status === 201)).toBe(true);
});

test.each([1, 5])('an agent that claims twice at once has one claim, where max_claims is %i', async (max_claims) => {
  const id = await steps.created(ann, { max_claims });
  const twice = [() => steps.claim(bob, id), () => stepsOf(others).claim(bob, id)];
  expect(codes(await allAtOnce(services, id, twice)).sort()).toEqual(['ALREADY_CLAIMED', 'claimed']);
  expect((await detailsOf(id)).claims).toHaveLength(1);
});

test('a task takes no more claims than max_claims, however many come at once', async () => {
  const id = await steps.created(ann, { max_claims: 3 });
  const found = codes(await Promise.all(Array.from({ length: 20 }, (_, n) => steps.claim(agent(`Agent ${n}`), id))));
  expect([count(found, 'claimed'), count(found, 'MAX_CLAIMS_REACHED')]).toEqual([3, 17]);
});

test('claims that wait while the creator cancels are told that the task is not open', async () => {
  const id = await steps.created(ann);
  const claims = [bob, eve].map((who) => () => steps.claim(who, id));
  const [cancelled, ...refused] = await allAtOnce(services, id, [() => steps.update(ann, id, 'cancel'), ...claims]);
  expect(cancelled?.status).toBe(200);
  expect(codes(refused)).toEqual(['TASK_NOT_OPEN', 'TASK_NOT_OPEN']);
});

test('a claim that comes in while the creator waits to cancel is rejected like those before it', async () => {
  const id = await steps.created(ann, { max_claims: 3 });
  await steps.claim(bob, id);
  const queue = [() => steps.claim(eve, id), () => steps.update(ann, id, 'cancel')];
  expect((await allAtOnce(services, id, queue)).map(({ status }) => status)).toEqual([200, 200]);
  const { task, claims } = await detailsOf(id);
  expect(task).toMatchObject({ status: 'cancelled', claims_count: 0 });
  expect(claims).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  const told = (await tracesOf(tasks, id)).events.at(-1)?.audience;
  expect([...(told ?? [])].sort()).toEqual([ann, bob, eve].map(({ aid }) => `agent:${aid}`).sort());
});

test('cancelling succeeds in the middle of a hundred claims and leaves none of them live', async () => {
  const id = await steps.created(ann, { max_claims: 100 });
  const claimAll = (many: number) =>
    Array.from({ length: many }, (_, n) => stepsOf(n % 2 ? tasks : others).claim(agent(`Agent ${n}`), id));
  const [early, cancelling, late] = [claimAll(40), steps.update(ann, id, 'cancel'), claimAll(60)];
  expect(await cancelling).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  const claimed = count(codes(await Promise.all([...early, ...late])), 'claimed');
  const { task, claims } = await detailsOf(id);
  expect(task).toMatchObject({ status: 'cancelled', claims_count: 0 });
  expect(
    count(
      claims.map(({ status }: { status: string }) => status),
      'rejected',
    ),
  ).toBe(claimed);
  expect(claims).toHaveLength(claimed);
});

test('accepting a claim while others come in rejects all but that one', async () => {
  const id = await steps.created(ann, { max_claims: 100 });
  const first = (await steps.claim(bob, id)).body.claim.id;
  const claims = Array.from({ length: 60 }, (_, n) => steps.claim(agent(`Agent ${n}`), id));
  const [accepted] = await Promise.all([steps.resolve(ann, id, first, 'accept'), ...claims]);
  expect(accepted).toMatchObject({ status: 200, body: { task_status: 'claimed' } });
  const { task, claims: all } = await detailsOf(id);
  expect(task).toMatchObject({ assigned_aid: bob.aid, claims_count: 1 });
  expect(all.filter(({ status }: { status: string }) => status !== 'rejected')).toMatchObject([{ id: first }]);
});

test('of two decisions on two claims at once one holds', async () => {
  const id = await steps.created(ann, { max_claims: 3 });
  const made = [await steps.claim(bob, id), await steps.claim(eve, id)].map(({ body }) => body.claim.id);
  const decisions = made.map((claim, n) => () => stepsOf(at(n)).resolve(ann, id, claim, 'accept'));
  const answers = await allAtOnce(services, id, decisions);
  expect(codes(answers).sort()).toEqual(['INVALID_TRANSITION', 'claimed']);
  expect((await tracesOf(tasks, id)).events.filter(({ type }) => type === 'task.claimed')).toHaveLength(1);
});

test('of two moves at once one is made, with one event', async () => {
  const id = await steps.created(ann);
  await steps.claim(bob, id);
  const moves = [() => steps.update(bob, id, 'start'), () => stepsOf(others).update(ann, id, 'cancel')];
  const answers = await allAtOnce(services, id, moves);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await tracesOf(tasks, id)).events).toHaveLength(3);
});

test('claims that come in while the task runs out leave none of them live', async () => {
  const ids = await Promise.all(
    Array.from({ length: 10 }, () => steps.created(ann, { max_claims: 5, ttl_minutes: 10 })),
  );
  const claims = () => ids.flatMap((id) => [bob, eve].map((who) => steps.claim(who, id)));
  const early = claims();
  clock.advance(10 * 60_000);
  const sweeps = [expireTasks(tasks.context), expireTasks(others.context)];
  const late = claims();
  const answers = await Promise.all([...early, ...late]);
  await Promise.all(sweeps);
  await expireTasks(tasks.context);
  expect(codes(answers).every((code) => ['claimed', 'ALREADY_CLAIMED', 'TASK_NOT_OPEN'].includes(code))).toBe(true);
  for (const id of ids) {
    const { events } = await tracesOf(tasks, id);
    expect(events.filter(({ type }) => type === 'task.expired')).toHaveLength(1);
  }
});

test('a parent counts every one of the subtasks that are added at once', async () => {
  const id = await steps.created(ann);
  await steps.claim(bob, id);
  const adding = Array.from({ length: 30 }, (_, n) => stepsOf(n % 2 ? tasks : others).delegate(n % 3 ? ann : bob, id));
  const answers = await Promise.all(adding);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  const { task, subtasks } = await detailsOf(id);
  expect([task.subtasks_count, subtasks.length]).toEqual([30, 30]);
});

test('no subtask is added to a parent that is cancelled meanwhile', async () => {
  const id = await steps.created(ann);
  const adding = Array.from({ length: 20 }, () => steps.delegate(ann, id));
  const [cancelled, ...answers] = await Promise.all([steps.update(ann, id, 'cancel'), ...adding]);
  expect((cancelled as Answer).status).toBe(200);
  const added = answers.filter(({ status }) => status === 201).length;
  expect(answers.every(({ status, body }) => status === 201 || body.code === 'PARENT_CLOSED')).toBe(true);
  expect((await detailsOf(id)).task.subtasks_count).toBe(added);
});

test('an agent that gives a task back while it is being deleted does not wait for a deadlock to be found', async () => {
  const durations: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const [id, gone] = [await steps.created(ann), agent('Gone')];
    await steps.claim(gone, id);
    const deleted = () => tasks.running.departures.onDeleted(deletionOf(gone));
    const started = Date.now();
    const [answer] = await allAtOnce<unknown>(services, id, [() => steps.update(gone, id, 'unclaim'), deleted]);
    durations.push(Date.now() - started);
    expect(answer).toMatchObject({ status: 200 });
    expect((await detailsOf(id)).claims).toMatchObject([{ status: 'withdrawn' }]);
  }
  // PostgreSQL looks for deadlocks after a second; a slow machine is not that slow three times.
  expect(Math.min(...durations)).toBeLessThan(1_000);
});
