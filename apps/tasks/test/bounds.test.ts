import { type TestDatabase, testDatabase } from '@acsp/testkit';
import { type Door, doorTo } from './door-to.js';
import { agent, startTasks, type Tasks } from './harness.js';
import { draft, type Steps, stepsOf } from './steps.js';

// R7: no request makes the service or its PostgreSQL build more than 8 MiB.

let database: TestDatabase;
let door: Door;
let tasks: Tasks;
let steps: Steps;
const [ann, bob] = [agent('Ann'), agent('Bob')];
const limit = 8 * 2 ** 20;

beforeAll(async () => {
  database = await testDatabase();
  door = await doorTo(database.url);
  tasks = await startTasks({ databaseUrl: door.url });
  steps = stepsOf(tasks);
});
afterAll(async () => {
  await tasks[Symbol.asyncDispose]();
  await door[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** The answer to a GET, its bytes, and the bytes that PostgreSQL has sent for it. */
async function measure(request: string) {
  const before = door.sent();
  const response = await tasks.send(ann, request);
  const text = await response.text();
  return {
    status: response.status,
    bytes: Buffer.byteLength(text),
    sent: door.sent() - before,
    body: JSON.parse(text),
  };
}

/** The largest texts by bytes, and by what JSON makes of them: control characters take six bytes each. */
const texts = { emoji: '😀', controls: '\u0001' } as const;

async function fillThread(task_id: string, character: string) {
  const content = `x${character.repeat(4095)}`;
  const metadata = JSON.stringify({ text: 'm'.repeat(4096 - '{"text":""}'.length) });
  await tasks.context.database.prisma.$executeRaw`
    INSERT INTO message (id, task_id, sender_aid, sender_name, msg_type, content, metadata, created_at)
    SELECT gen_random_uuid(), ${task_id}::uuid, ${ann.aid}, 'Ann', 'comment', n || ${content}, ${metadata}::json, now() + make_interval(secs => n)
    FROM generate_series(1, 500) AS n`;
}

async function addClaims(task_id: string, character: string) {
  await tasks.context.database.prisma.$executeRaw`
    INSERT INTO claim (id, task_id, agent_aid, agent_name, status, message, created_at, resolved_at)
    SELECT gen_random_uuid(), ${task_id}::uuid, lpad(n::text, 50, '0'), 'Bob', 'withdrawn', ${character.repeat(1024)}, now(), now()
    FROM generate_series(1, 200) AS n`;
}

async function addSubtasks(parent_id: string | null, character: string, count = 200) {
  const many = (length: number) => Array<string>(20).fill(character.repeat(length));
  const [title, description] = [character.repeat(256), character.repeat(4096)];
  const { prisma } = tasks.context.database;
  await prisma.$executeRaw`
    INSERT INTO task (id, parent_id, creator_aid, creator_name, title, description, requirements, tags, ttl_minutes, expires_at, created_at)
    SELECT gen_random_uuid(), ${parent_id}::uuid, ${bob.aid}, 'Bob', ${title}, ${description}, ${many(256)}, ${many(64)}, 1, now() + interval '1 day', now()
    FROM generate_series(1, ${count}::int)`;
  await prisma.$executeRaw`UPDATE task SET subtasks_count = ${count} WHERE id = ${parent_id}::uuid`;
}

test('a parent with 100 subtasks that carry results of 64 KB of 1e308', async () => {
  const parent = await steps.created(ann);
  const words = `"result_text":"r","result":{"a":[${Array(9_000).fill('1e308')}]}`;
  let child = '';
  for (let n = 0; n < 100; n += 1) {
    child = (await steps.delegate(ann, parent)).body.task.id;
    await steps.claim(bob, child);
    const answer = await tasks.call(bob, 'POST /tasks/submit', `{"task_id":"${child}",${words}}`);
    expect(answer.status).toBe(200);
  }
  const page = await measure(`GET /tasks/${parent}`);
  expect([page.status, page.body.subtasks.length]).toEqual([200, 100]);
  expect(page.body.subtasks[0]).not.toHaveProperty('result');
  expect(Math.max(page.bytes, page.sent)).toBeLessThan(200_000);
  const list = await measure(`GET /tasks?parent_id=${parent}&status=review&limit=100`);
  expect([list.body.tasks.length, Math.max(list.bytes, list.sent) < 200_000]).toEqual([100, true]);
  const one = await measure(`GET /tasks/${child}`);
  expect(one.body.task.result.a).toHaveLength(9_000);
  expect(Math.max(one.bytes, one.sent)).toBeLessThan(200_000);
});

test.each(Object.keys(texts) as (keyof typeof texts)[])(
  'a task with everything at its largest, of %s: the newest are shown, as many as fit',
  async (kind) => {
    const id = await steps.created(ann, { max_claims: 100, ...draft });
    await fillThread(id, texts[kind]);
    await addClaims(id, texts[kind]);
    await addSubtasks(id, texts[kind]);
    const { status, bytes, sent, body } = await measure(`GET /tasks/${id}`);
    expect(status).toBe(200);
    expect(Math.max(bytes, sent)).toBeLessThan(limit);
    const numbers = body.messages.map(({ content }: { content: string }) => Number.parseInt(content, 10));
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers).toEqual(Array.from(numbers, (_, n) => 500 - numbers.length + n + 1));
    expect(body.claims.length).toBeGreaterThan(100);
    expect(body.subtasks.length).toBeGreaterThan(30);
  },
);

test('the largest page of a list', async () => {
  // As large as a request of 64 KiB can make them.
  await addSubtasks(null, '😀', 101);
  const { status, bytes, sent, body } = await measure(`GET /tasks?limit=100&created_by=${bob.aid}`);
  expect([status, body.tasks.length, body.has_more]).toEqual([200, 100, true]);
  expect(Math.max(bytes, sent)).toBeLessThan(limit);
});
