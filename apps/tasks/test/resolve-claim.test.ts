import { type TestClock, testClock } from '@acsp/testkit';
import { agent, startTasks, type Tasks } from './harness.js';
import { nowhere, type Steps, stepsOf, withLabels } from './steps.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const [ann, bob, eve, zoe] = [agent('Ann'), agent('Bob'), agent('Eve'), agent('Zoe')];

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

/** A task of Ann with a pending claim of each agent; gives the claims' ids. */
async function claimed(...agents: (typeof ann)[]) {
  const id = await steps.created(ann, { max_claims: agents.length + 1 });
  const claims: string[] = [];
  for (const who of agents) claims.push((await steps.claim(who, id)).body.claim.id);
  return [id, ...claims] as [id: string, ...claims: string[]];
}

const statusesOf = async (id: string) =>
  (await steps.details(ann, id)).body.claims.map(({ status }: { status: string }) => status);

test('accepting one claim assigns its agent and rejects the other pending ones', async () => {
  const [id, _first, second] = await claimed(bob, eve, zoe);
  const { status, body } = await steps.resolve(ann, id, second as string, 'accept');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    claim: { id: second, task_id: id, agent_aid: eve.aid, status: 'accepted', resolved_at: clock.now().toISOString() },
    task_status: 'claimed',
    message: 'Claim accepted',
  });
  const details = (await steps.details(ann, id)).body;
  const assigned = { assigned_aid: eve.aid, assigned_name: 'Eve', claimed_at: clock.now().toISOString() };
  expect(details.task).toMatchObject({ status: 'claimed', claims_count: 1, ...assigned });
  expect(await statusesOf(id)).toEqual(['rejected', 'accepted', 'rejected']);
  expect(details.claims.every((claim: { resolved_at: string }) => claim.resolved_at !== null)).toBe(true);
});

test('rejecting one claim leaves the task open, the others pending and a place free', async () => {
  const [id, first] = await claimed(bob, eve);
  const { body } = await steps.resolve(ann, id, first as string, 'reject');
  expect(body).toMatchObject({ claim: { id: first, status: 'rejected' }, task_status: 'open' });
  const { task } = (await steps.details(ann, id)).body;
  expect(task).toMatchObject({ status: 'open', claims_count: 1, assigned_aid: null, claimed_at: null });
  expect(await statusesOf(id)).toEqual(['rejected', 'pending']);
});

test('a rejected agent may claim again', async () => {
  const [id, first] = await claimed(bob);
  await steps.resolve(ann, id, first as string, 'reject');
  expect(await steps.claim(bob, id)).toMatchObject({ status: 200, body: { claim: { status: 'pending' } } });
});

test('refuses everybody but the creator, before it looks at the claim and its state', async () => {
  const [id, first] = await claimed(bob, eve);
  await steps.resolve(ann, id, first as string, 'accept');
  for (const who of [bob, eve, zoe]) {
    for (const claim of [first as string, nowhere]) {
      const answer = await steps.resolve(who, id, claim, 'accept');
      expect(answer).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } });
    }
  }
});

test('refuses to resolve a claim twice, or one that was withdrawn or rejected with the task', async () => {
  const [id, first, second, third] = await claimed(bob, eve, zoe);
  await steps.update(zoe, id, 'unclaim');
  await steps.resolve(ann, id, first as string, 'reject');
  const again = async (claim: string | undefined, decision: 'accept' | 'reject') =>
    expect(await steps.resolve(ann, id, claim as string, decision)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_TRANSITION' },
    });
  await again(first, 'reject');
  await again(first, 'accept');
  await again(third, 'accept');
  await steps.update(ann, id, 'cancel');
  await again(second, 'accept');
  expect(await statusesOf(id)).toEqual(['rejected', 'rejected', 'withdrawn']);
});

test('refuses a claim once its task has run out', async () => {
  const [id, first] = await claimed(bob);
  clock.advance(1440 * 60_000);
  const answer = await steps.resolve(ann, id, first as string, 'accept');
  expect(answer).toMatchObject({ status: 409, body: { code: 'INVALID_TRANSITION' } });
});

test('refuses a claim that does not exist or belongs to another task, and a task that does not exist', async () => {
  const [id, first] = await claimed(bob);
  const [, foreign] = await claimed(bob);
  for (const claim of [nowhere, foreign as string]) {
    expect(await steps.resolve(ann, id, claim, 'accept')).toMatchObject({
      status: 404,
      body: { code: 'CLAIM_NOT_FOUND' },
    });
  }
  const lost = await steps.resolve(ann, nowhere, first as string, 'accept');
  expect(lost).toMatchObject({ status: 404, body: { code: 'TASK_NOT_FOUND' } });
  expect(await statusesOf(id)).toEqual(['pending']);
});

test.each(
  withLabels([
    ['INVALID_TASK_ID', { task_id: undefined }],
    ['INVALID_TASK_ID', { task_id: '42' }],
    ['MISSING_FIELDS', { claim_id: null }],
    ['INVALID_FIELD', { claim_id: 'first' }],
    ['MISSING_FIELDS', { decision: undefined }],
    ['INVALID_FIELD', { decision: 'maybe' }],
    ['INVALID_AID', { aid: 'ann' }],
  ]),
)('refuses with %s: %s', async (code, _label, fields) => {
  const request = { task_id: nowhere, claim_id: nowhere, decision: 'accept', ...fields };
  expect(await tasks.call(ann, 'POST /tasks/claims/resolve', request)).toMatchObject({ status: 400, body: { code } });
});

test('refuses a caller without a principal, and an aid that is not the caller', async () => {
  const [task_id, claim_id] = await claimed(bob);
  const request = { task_id, claim_id, decision: 'accept' };
  const nobody = await tasks.call(undefined, 'POST /tasks/claims/resolve', request);
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  const posing = await tasks.call(bob, 'POST /tasks/claims/resolve', { ...request, aid: ann.aid });
  expect(posing).toMatchObject({ status: 403, body: { code: 'AID_MISMATCH' } });
});
