import { newKey, type PostRequest, sendUnder, testRepeated } from '@acsp/testkit';
import { agent, startTasks, type Tasks } from './harness.js';
import { draft, type Steps, stepsOf, taskIn } from './steps.js';

// Each POST under an Idempotency-Key, as the gateway hands it on: a digest of caller and key, and one of the request.

let tasks: Tasks;
let other: Tasks;
let steps: Steps;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  tasks = await startTasks();
  other = await startTasks({ databaseUrl: tasks.databaseUrl });
  steps = stepsOf(tasks);
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await tasks[Symbol.asyncDispose]();
});

const send = (request: PostRequest, idempotency: ReturnType<typeof newKey>, at = tasks) =>
  sendUnder(at, request, idempotency);

const bring = (status: 'open' | 'claimed' | 'review' | 'done', fields: object = {}) =>
  taskIn(steps, status, { creator: ann, worker: bob, ...fields });

async function pendingClaim() {
  const task_id = await bring('open', { max_claims: 3 });
  const { claim } = (await steps.claim(bob, task_id)).body;
  return { task_id, claim_id: claim.id };
}

/** A request of each operation that succeeds once, and one that is refused for the state of its task. */
const operations: Record<string, readonly [() => Promise<PostRequest>, () => Promise<PostRequest>]> = {
  create: [
    async () => ({ who: ann, path: '/tasks', body: draft }),
    async () => ({ who: ann, path: '/tasks', body: { ...draft, parent_id: await bring('done') } }),
  ],
  claim: [
    async () => ({ who: bob, path: '/tasks/claim', body: { task_id: await bring('open') } }),
    async () => ({ who: eve, path: '/tasks/claim', body: { task_id: await bring('claimed') } }),
  ],
  resolve: [
    async () => ({ who: ann, path: '/tasks/claims/resolve', body: { ...(await pendingClaim()), decision: 'accept' } }),
    async () => ({ who: bob, path: '/tasks/claims/resolve', body: { ...(await pendingClaim()), decision: 'accept' } }),
  ],
  update: [
    async () => ({ who: bob, path: '/tasks/update', body: { task_id: await bring('claimed'), action: 'start' } }),
    async () => ({ who: ann, path: '/tasks/update', body: { task_id: await bring('open'), action: 'approve' } }),
  ],
  submit: [
    async () => ({ who: bob, path: '/tasks/submit', body: { task_id: await bring('claimed'), result_text: '42' } }),
    async () => ({ who: bob, path: '/tasks/submit', body: { task_id: await bring('review'), result_text: '42' } }),
  ],
  delegate: [
    async () => ({ who: ann, path: '/tasks/delegate', body: { ...draft, parent_id: await bring('open') } }),
    async () => ({ who: ann, path: '/tasks/delegate', body: { ...draft, parent_id: await bring('done') } }),
  ],
  message: [
    async () => ({ who: ann, path: '/tasks/message', body: { task_id: await bring('open'), content: 'Hello' } }),
    async () => ({ who: ann, path: '/tasks/message', body: { task_id: await bring('done'), content: 'Hello' } }),
  ],
};

/** Rows of every table that an operation writes. */
async function countRows(): Promise<Record<string, number>> {
  const { prisma } = tasks.context.database;
  const [counts] = await prisma.$queryRaw<Record<string, number>[]>`
    SELECT (SELECT count(*)::int FROM task) AS tasks, (SELECT sum(version)::int FROM task) AS versions,
      (SELECT sum(subtasks_count)::int FROM task) AS subtasks, (SELECT count(*)::int FROM claim) AS claims,
      (SELECT count(*)::int FROM message) AS messages, (SELECT count(*)::int FROM log_entry) AS entries,
      (SELECT count(*)::int FROM bus.outbox) AS events`;
  return counts as Record<string, number>;
}

testRepeated({ replicas: () => [tasks, other], operations, countRows });

test('a refusal stands although the request would succeed by now', async () => {
  const task_id = await bring('claimed');
  const request = { who: eve, path: '/tasks/claim', body: { task_id } };
  const idempotency = newKey();
  const first = await send(request, idempotency);
  expect(first).toMatchObject({ status: 409, body: { code: 'TASK_NOT_OPEN' } });
  await steps.update(bob, task_id, 'unclaim');
  expect((await send(request, idempotency)).body).toEqual(first.body);
  expect((await send(request, newKey())).status).toBe(200);
});

test('another request under the same key is refused, and changes nothing', async () => {
  const { key, print } = newKey();
  const first = await send({ who: ann, path: '/tasks', body: draft }, { key, print });
  expect(first.status).toBe(201);
  const before = await countRows();
  const second = await send({ who: ann, path: '/tasks', body: { ...draft, title: 'Other' } }, { key, print: 'other' });
  expect(second).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  expect(await countRows()).toEqual(before);
});
