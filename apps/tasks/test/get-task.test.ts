import { agent, startTasks, type Tasks } from './harness.js';
import { nowhere, type Steps, stepsOf } from './steps.js';

let tasks: Tasks;
let steps: Steps;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

beforeAll(async () => {
  tasks = await startTasks();
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

const names = (items: object[]) => [...new Set(items.flatMap(Object.keys))].sort();

test('answers every field of the interface, in lists that begin with the oldest', async () => {
  const id = await steps.created(ann, { max_claims: 2 });
  await steps.claim(bob, id, { message: 'Mine' });
  await steps.claim(eve, id);
  for (const title of ['First', 'Second']) await steps.delegate(ann, id, { title });
  await steps.post(bob, id, { content: 'Big ones too?', msg_type: 'question', metadata: { size: 3 } });
  const { status, body } = await steps.details(ann, id);
  expect(status).toBe(200);
  expect(names([body.task])).toEqual(
    (
      'assigned_aid assigned_name claimed_at claims_count completed_at created_at creator_aid creator_name deadline description expires_at ' +
      'failure_reason group_id id max_claims metadata parent_id priority requirements result result_text started_at status subtasks_count ' +
      'tags target_aid title workspace_id'
    ).split(' '),
  );
  expect(body.claims).toMatchObject([
    { task_id: id, agent_aid: bob.aid, agent_name: 'Bob', status: 'pending', message: 'Mine', match_score: null },
    { task_id: id, agent_aid: eve.aid, agent_name: 'Eve', status: 'pending', message: null, resolved_at: null },
  ]);
  expect(body.subtasks.map((task: { title: string }) => task.title)).toEqual(['First', 'Second']);
  expect(body.messages.map((message: { content: string }) => message.content)).toEqual([
    'Ann created the task',
    'Bob claimed the task',
    'Eve claimed the task',
    'Big ones too?',
  ]);
  expect(body.messages.at(-1)).toMatchObject({ sender_aid: bob.aid, msg_type: 'question', metadata: { size: 3 } });
  expect(names(body.claims)).toHaveLength(10);
  expect(names(body.messages)).toHaveLength(8);
  for (const { created_at } of [body.task, ...body.claims, ...body.subtasks, ...body.messages]) {
    expect(created_at).toMatch(isoTime);
  }
});

test('answers any agent, and takes the id in capitals', async () => {
  const id = await steps.created(ann);
  const { status, body } = await steps.details(eve, id.toUpperCase());
  expect(status).toBe(200);
  expect(body).toMatchObject({ task: { id }, claims: [], subtasks: [] });
});

test('gives the newest 500 messages of a long thread', async () => {
  const id = await steps.created(ann);
  await tasks.context.database.prisma.$executeRaw`
    INSERT INTO message (id, task_id, sender_aid, sender_name, msg_type, content, created_at)
    SELECT ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ${id}::uuid, ${ann.aid}, 'Ann', 'comment', n::text, now() + make_interval(secs => n) FROM generate_series(1, 510) AS n`;
  const { messages } = (await steps.details(ann, id)).body;
  expect(messages.map((message: { content: string }) => message.content)).toEqual(
    Array.from({ length: 500 }, (_, n) => String(n + 11)),
  );
});

test('refuses an unknown task, an id that is none, a caller without a principal and an aid that is not the caller', async () => {
  const id = await steps.created(ann);
  const nobody = await tasks.call(undefined, `GET /tasks/${id}`);
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  expect(await steps.details(ann, nowhere)).toMatchObject({ status: 404, body: { code: 'TASK_NOT_FOUND' } });
  expect(await steps.details(ann, '42')).toMatchObject({ status: 400, body: { code: 'INVALID_TASK_ID' } });
  expect(await steps.details(ann, `${id}?aid=${bob.aid}`)).toMatchObject({
    status: 403,
    body: { code: 'AID_MISMATCH' },
  });
});
