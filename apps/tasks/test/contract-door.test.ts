import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { AppError } from '@acsp/errors';
import { createPrincipals, type Principal, principalHeader } from '@acsp/operation';
import { createPeer, type Peer } from '@acsp/service';
import { type TestClock, testClock } from '@acsp/testkit';
import { status } from '@grpc/grpc-js';
import { agent, startTasks, type Tasks } from './harness.js';
import { holdTask } from './hold-task.js';
import { plainCall } from './plain-call.js';
import { draft, nowhere } from './steps.js';

let tasks: Tasks;
let clock: TestClock;
/** The client of a service that acts for agents. */
let client: Peer<typeof TasksService>;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];
const as = (caller: Principal) => ({ caller, timeoutMs: 20_000 });

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  client = createPeer(TasksService, { address: tasks.address, principals: tasks.principals, name: 'worker' });
});
afterAll(async () => {
  client[Symbol.dispose]();
  await tasks[Symbol.asyncDispose]();
});

const created = async (fields: object = {}) =>
  (await client.createTask({ ...draft, ...fields }, as(ann))).task?.id as string;
const plainCreate = (request: object, headers = {}) =>
  plainCall({ address: tasks.address, method: 'CreateTask', request, headers });
const failure = (call: Promise<unknown>) =>
  call.then(
    () => 'succeeded',
    (error: unknown) => (error instanceof AppError ? error : String(error)),
  );

test('a service leads a task through its life on behalf of two agents', async () => {
  const id = await created({ priority: 'high', metadata: { heap: [1, { deep: null }] }, ttl_minutes: 5 });
  const claimed = await client.claimTask({ task_id: id, message: 'Mine', eta_minutes: 3 }, as(bob));
  expect(claimed).toMatchObject({
    task_status: 'claimed',
    claim: { agent_aid: bob.aid, status: 'accepted', eta_minutes: 3 },
  });
  expect(await client.updateTask({ task_id: id, action: 'start' }, as(bob))).toMatchObject({ status: 'in_progress' });
  const posted = await client.postMessage({ task_id: id, content: 'Half done', msg_type: 'status_update' }, as(bob));
  expect(posted).toMatchObject({ sender_aid: bob.aid, msg_type: 'status_update', content: 'Half done' });
  const child = await client.delegateTask({ parent_id: id, ...draft, requirements: ['scales'] }, as(bob));
  expect(child.task).toMatchObject({ parent_id: id, creator_aid: bob.aid, requirements: ['scales'] });
  const submitted = await client.submitTask({ task_id: id, result_text: '42', result: { stones: 42 } }, as(bob));
  expect(submitted).toMatchObject({ task_id: id, status: 'review' });
  await client.updateTask({ task_id: id, action: 'approve', comment: 'Fine' }, as(ann));

  const { task, claims, subtasks, messages } = await client.getTask({ id }, as(eve));
  expect(task).toMatchObject({ status: 'done', priority: 'high', result: { stones: 42 }, subtasks_count: 1 });
  expect(task?.metadata).toEqual({ heap: [1, { deep: null }] });
  expect(task?.completed_at).toEqual(clock.now());
  expect([claims.length, subtasks.length]).toEqual([1, 1]);
  expect(messages.map(({ sender_name }) => sender_name)).toEqual(['acsp', 'acsp', 'acsp', 'Bob', 'acsp', 'acsp']);
  const listed = await client.listTasks({ status: 'done', created_by: ann.aid, limit: 1 }, as(eve));
  expect(listed).toMatchObject({ total: 1, has_more: false, tasks: [{ id, assigned_aid: bob.aid }] });
});

test('a creator resolves claims', async () => {
  const id = await created({ max_claims: 2, deadline: new Date('2030-01-01T00:00:00.123Z') });
  const { claim } = await client.claimTask({ task_id: id }, as(bob));
  const accepted = await client.resolveClaim(
    { task_id: id, claim_id: claim?.id as string, decision: 'accept' },
    as(ann),
  );
  expect(accepted).toMatchObject({ task_status: 'claimed', claim: { status: 'accepted', agent_aid: bob.aid } });
  const { task } = await client.getTask({ id }, as(ann));
  expect(task?.deadline).toEqual(new Date('2030-01-01T00:00:00.123Z'));
});

test('both doors serve the same task', async () => {
  const id = await created();
  const { body } = await tasks.call(bob, `GET /tasks/${id}`);
  const { task } = await client.getTask({ id }, as(bob));
  expect(body.task).toMatchObject({ id, title: task?.title, creator_aid: task?.creator_aid, status: task?.status });
});

test.each([
  ['MISSING_TITLE', () => client.createTask({ title: '', description: 'x' }, as(ann))],
  ['INVALID_TASK_ID', () => client.claimTask({ task_id: '' }, as(ann))],
  ['INVALID_TASK_ID', () => client.getTask({ id: '42' }, as(ann))],
  ['INVALID_FIELD', () => client.listTasks({ limit: 101 }, as(ann))],
  ['TASK_NOT_FOUND', () => client.getTask({ id: nowhere }, as(ann))],
  ['PARENT_NOT_FOUND', () => client.delegateTask({ parent_id: nowhere, ...draft }, as(ann))],
  ['CANNOT_CLAIM_OWN', async () => client.claimTask({ task_id: await created() }, as(ann))],
  ['NOT_TARGET', async () => client.claimTask({ task_id: await created({ target_aid: eve.aid }) }, as(bob))],
  ['INVALID_TRANSITION', async () => client.updateTask({ task_id: await created(), action: 'approve' }, as(ann))],
  ['PERMISSION_DENIED', async () => client.postMessage({ task_id: await created(), content: 'Hi' }, as(bob))],
])('a refusal arrives with its own code: %s', async (code, call) => {
  expect(await failure(call())).toMatchObject({ name: 'AppError', code });
});

test('refused fields arrive by name', async () => {
  const error = await failure(
    client.createTask({ title: 'x', description: 'y', priority: 'huge', max_claims: 0 }, as(ann)),
  );
  expect(error).toMatchObject({ code: 'INVALID_FIELD' });
  expect((error as AppError).fields.map(({ field }) => field)).toEqual(['priority', 'max_claims']);
});

test('an agent may be served, but not a service for itself, nobody, or whom another secret has signed', async () => {
  const alone = { code: 'AUTH_REQUIRED' };
  expect(await failure(client.createTask(draft))).toMatchObject(alone);
  expect(await failure(client.createTask(draft, as({ name: '', via: 'anonymous', requestId: 'r' })))).toMatchObject(
    alone,
  );
  const principals = createPrincipals(['a secret that no service of this run has']);
  using forger = createPeer(TasksService, { address: tasks.address, principals, name: 'worker' });
  expect(await failure(forger.createTask(draft, as(ann)))).toMatchObject(alone);
  expect(await plainCreate(draft)).toEqual({ code: status.UNAUTHENTICATED });
});

test('a call that runs out of time is SERVICE_UNAVAILABLE at its deadline', async () => {
  const id = await created();
  const held = await holdTask(tasks, id);
  const started = Date.now();
  const error = await failure(client.claimTask({ task_id: id }, { ...as(bob), timeoutMs: 300 }));
  await held[Symbol.asyncDispose]();
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 });
  expect(Date.now() - started).toBeLessThan(2_000);
});

test('a client made from the .proto file by other libraries is served', async () => {
  const headers = { [principalHeader]: tasks.principals.sign(ann) };
  const { answer } = await plainCreate({ ...draft, max_claims: 2 }, headers);
  expect(answer.task).toMatchObject({ ...draft, creator_aid: ann.aid, max_claims: 2, status: 'open' });
});
