import { agent, startTasks, type Tasks } from './harness.js';

let tasks: Tasks;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  tasks = await startTasks();
});
afterAll(() => tasks[Symbol.asyncDispose]());

const create = async (fields: object = {}) => {
  const { body } = await tasks.call(ann, 'POST /tasks', {
    title: 'Count stones',
    description: 'All of them',
    ...fields,
  });
  return body.task.id as string;
};
const claim = (who: typeof ann, task_id: string, fields: object = {}) =>
  tasks.call(who, 'POST /tasks/claim', { task_id, ...fields });

test('assigns the task at once where one claim is all it takes', async () => {
  const id = await create();
  const { status, body } = await claim(bob, id, { message: 'I count well', eta_minutes: 30 });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    claim: { task_id: id, agent_aid: bob.aid, status: 'accepted', match_score: null, eta_minutes: 30 },
    task_status: 'claimed',
  });
  const details = await tasks.call(ann, `GET /tasks/${id}`);
  expect(details.body.task).toMatchObject({
    status: 'claimed',
    assigned_aid: bob.aid,
    assigned_name: 'Bob',
    claims_count: 1,
  });
  expect(details.body.task.claimed_at).not.toBeNull();
  expect(details.body.claims).toEqual([body.claim]);
});

test('leaves the task open and the claim pending where it takes several', async () => {
  const id = await create({ max_claims: 2 });
  const { body } = await claim(bob, id);
  expect(body).toMatchObject({ claim: { status: 'pending', resolved_at: null }, task_status: 'open' });
  const details = await tasks.call(ann, `GET /tasks/${id}`);
  expect(details.body.task).toMatchObject({ status: 'open', assigned_aid: null, claims_count: 1 });
});

test('refuses a second claim while the first is live, whatever the state', async () => {
  const [single, several] = [await create(), await create({ max_claims: 2 })];
  for (const id of [single, several]) {
    await claim(bob, id);
    expect(await claim(bob, id)).toMatchObject({ status: 409, body: { code: 'ALREADY_CLAIMED' } });
  }
});

test('refuses a claim beyond max_claims', async () => {
  const id = await create({ max_claims: 2 });
  await claim(bob, id);
  await claim(eve, id);
  expect(await claim(agent('Zoe'), id)).toMatchObject({ status: 409, body: { code: 'MAX_CLAIMS_REACHED' } });
});

test('refuses the creator', async () => {
  expect(await claim(ann, await create())).toMatchObject({ status: 400, body: { code: 'CANNOT_CLAIM_OWN' } });
});

test('lets only the target claim', async () => {
  const id = await create({ target_aid: eve.aid });
  expect(await claim(bob, id)).toMatchObject({ status: 403, body: { code: 'NOT_TARGET' } });
  expect(await claim(eve, id)).toMatchObject({ status: 200 });
});

test('refuses a task that somebody else holds', async () => {
  const id = await create();
  await claim(bob, id);
  expect(await claim(eve, id)).toMatchObject({ status: 409, body: { code: 'TASK_NOT_OPEN' } });
});

test('refuses a task that does not exist, and an id that is none', async () => {
  expect(await claim(bob, '019a0000-0000-7000-8000-000000000000')).toMatchObject({
    status: 404,
    body: { code: 'TASK_NOT_FOUND' },
  });
  expect(await claim(bob, '42')).toMatchObject({ status: 400, body: { code: 'INVALID_TASK_ID' } });
});

test('refuses a caller without a principal', async () => {
  const answer = await tasks.call(undefined, 'POST /tasks/claim', { task_id: await create() });
  expect(answer).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
});

test('refuses an aid that is not the caller', async () => {
  expect(await claim(bob, await create(), { aid: eve.aid })).toMatchObject({
    status: 403,
    body: { code: 'AID_MISMATCH' },
  });
});
