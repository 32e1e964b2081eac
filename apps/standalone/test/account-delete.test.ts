import { eventually } from '@acsp/testkit';
import { startWorld, type TestAgent, type World } from './harness.js';

// Tasks are cancelled and claims withdrawn when an agent deletes its account: identity says so on the bus, and tasks acts on it.

let world: World;
let stays: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  stays = await world.quickstart('Stella');
});
afterAll(() => world[Symbol.asyncDispose]());

const leave = (agent: TestAgent) => world.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true });
const details = async (id: string) => (await world.call(stays, `GET /tasks/${id}`)).body;

async function task(creator: TestAgent, fields: object = {}): Promise<string> {
  const { body } = await world.call(creator, 'POST /tasks', {
    title: 'Sweep the yard',
    description: 'Behind the house too',
    ...fields,
  });
  return body.task.id;
}

/** A task that the worker has brought as far as `steps` say. */
async function worked(
  creator: TestAgent,
  worker: TestAgent,
  ...steps: ('claim' | 'start' | 'submit')[]
): Promise<string> {
  const id = await task(creator);
  for (const step of steps) {
    const body = {
      claim: { task_id: id },
      start: { task_id: id, action: 'start' },
      submit: { task_id: id, result_text: 'Swept' },
    }[step];
    const path = { claim: 'claim', start: 'update', submit: 'submit' }[step];
    expect((await world.call(worker, `POST /tasks/${path}`, body)).status).toBe(200);
  }
  return id;
}

test('cancels every unfinished task that it created, and leaves the finished ones', async () => {
  const leaver = await world.quickstart('Lena');
  const open = await task(leaver, { max_claims: 2 });
  await world.call(stays, 'POST /tasks/claim', { task_id: open });
  const claimed = await worked(leaver, stays, 'claim');
  const review = await worked(leaver, stays, 'claim', 'start', 'submit');
  const done = await worked(leaver, stays, 'claim', 'submit');
  await world.call(leaver, 'POST /tasks/update', { task_id: done, action: 'approve' });

  expect((await leave(leaver)).status).toBe(200);
  await eventually(async () => {
    for (const id of [open, claimed, review])
      expect((await details(id)).task).toMatchObject({ status: 'cancelled', creator_name: 'Lena' });
  });
  expect((await details(open)).claims).toMatchObject([{ status: 'rejected' }]);
  expect((await details(claimed)).messages.at(-1)).toMatchObject({
    sender_aid: null,
    sender_name: 'acsp',
    msg_type: 'system',
  });
  expect((await details(done)).task.status).toBe('done');
});

test('opens again what it had claimed or begun for others, and withdraws its claims', async () => {
  const leaver = await world.quickstart('Ludo');
  const pending = await task(stays, { max_claims: 2 });
  await world.call(leaver, 'POST /tasks/claim', { task_id: pending });
  const claimed = await worked(stays, leaver, 'claim');
  const begun = await worked(stays, leaver, 'claim', 'start');

  await leave(leaver);
  await eventually(async () => {
    for (const id of [pending, claimed, begun]) {
      const { task, claims } = await details(id);
      expect(task).toMatchObject({
        status: 'open',
        assigned_aid: null,
        claimed_at: null,
        started_at: null,
        claims_count: 0,
      });
      expect(claims).toMatchObject([{ agent_name: 'Ludo', status: 'withdrawn' }]);
    }
  });
});

test('leaves a result under review, which the creator may still approve', async () => {
  const leaver = await world.quickstart('Lara');
  const begun = await worked(stays, leaver, 'claim');
  const review = await worked(stays, leaver, 'claim', 'submit');
  await leave(leaver);
  await eventually(async () => expect((await details(begun)).task.status).toBe('open'));
  expect((await details(review)).task).toMatchObject({ status: 'review', assigned_name: 'Lara' });
  expect((await world.call(stays, 'POST /tasks/update', { task_id: review, action: 'approve' })).body.status).toBe(
    'done',
  );
});

test('makes it unknown to everybody', async () => {
  const leaver = await world.quickstart('Lotte');
  await leave(leaver);
  expect((await world.send(`GET /status?aid=${leaver.aid}`)).body.code).toBe('AID_NOT_FOUND');
  const reserved = await world.call(stays, 'POST /tasks', {
    title: 'For Lotte',
    description: 'Too late',
    target_aid: leaver.aid,
  });
  expect(reserved).toMatchObject({ status: 404, body: { code: 'AID_NOT_FOUND' } });
});
