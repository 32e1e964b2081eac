import { eventually, type TestClock, testClock } from '@acsp/testkit';
import { expireThreads } from '../src/thread/expire-threads.js';
import { type Answer, type Messaging, startMessaging } from './harness.js';
import { codeOf, hourMs, rowOf, signer, type Threads, threadsOf, typesOf, uuidOf } from './threads.js';

let first: Messaging;
let second: Messaging;
let here: Threads;
let there: Threads;
let clock: TestClock;
const [ann, bob] = [signer('Ann'), signer('Bob')];

beforeAll(async () => {
  clock = testClock();
  first = await startMessaging({ clock });
  second = await startMessaging({ clock, databaseUrl: first.databaseUrl });
  [here, there] = [threadsOf(first), threadsOf(second)];
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
});

const codes = (answers: readonly Answer[]) => answers.map(codeOf).sort();

/** Lets requests come in while the thread is locked, so that all of them wait for its row before any is decided. */
async function allAtOnce<T>(thread_id: string, requests: readonly (() => Promise<T>)[], meanwhile = async () => {}) {
  const { pool } = first.context.database;
  const holder = await pool.connect();
  const answers: Promise<T>[] = [];
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM thread WHERE id = $1 FOR UPDATE', [uuidOf(thread_id)]);
    for (const request of requests) {
      answers.push(request());
      await eventually(async () => (await waiting()) === answers.length, { intervalMs: 5 });
    }
    await meanwhile();
  } finally {
    await holder.query('COMMIT');
    holder.release();
  }
  return Promise.all(answers);
}

/** Transactions of this database that wait for a row. */
async function waiting(): Promise<number> {
  const { rows } = await first.context.database.pool.query(
    `SELECT count(DISTINCT pid)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0].count;
}

test('messages that come in at once, in two services, have the numbers 1 to n in the order of their commits', async () => {
  const thread_id = await here.created(ann, bob);
  const count = 40;
  const posts = Array.from({ length: count }, (_, n) =>
    (n % 2 ? here : there).post(n % 3 ? ann : bob, thread_id, 'info', { n }),
  );
  const answers = await Promise.all(posts);
  const numbers = Array.from({ length: count }, (_, n) => n + 1);
  expect(codes(answers)).toEqual(numbers.map(() => 201));
  expect(answers.map(({ body }) => body.number).sort((a, b) => a - b)).toEqual(numbers);
  const { thread, messages } = (await here.details(ann, thread_id)).body;
  expect(thread.messages_count).toBe(count);
  expect(messages.map(({ number }: { number: number }) => number)).toEqual(numbers);
  const { rows } = await first.context.database.pool.query(
    `SELECT array_agg((payload->>'number')::int ORDER BY position) AS numbers FROM bus.outbox WHERE payload->>'thread_id' = $1 AND type = 'thread.informed'`,
    [thread_id],
  );
  expect(rows[0].numbers).toEqual(numbers);
});

test('messages between which the thread ends leave no gap in the numbers', async () => {
  const thread_id = await here.created(ann, bob);
  const posts = () => Array.from({ length: 10 }, (_, n) => (n % 2 ? here : there).post(bob, thread_id, 'info'));
  const answers = await Promise.all([...posts(), here.update(ann, thread_id, 'close'), ...posts()]);
  const sent = answers.filter(({ status }) => status === 201).map(({ body }) => body.number);
  expect(sent.sort((a, b) => a - b)).toEqual(sent.map((_, n) => n + 1));
  expect(await rowOf(first, thread_id)).toMatchObject({ status: 'closed', messages_count: sent.length });
  expect(await typesOf(first, thread_id)).toEqual([
    'thread.created',
    ...sent.map(() => 'thread.informed'),
    'thread.closed',
  ]);
});

test.each([
  ['accept', 'thread.accepted'],
  ['reject', 'thread.rejected'],
  ['close', 'thread.closed'],
] as const)('of two requests to %s at once, in two services, one is served', async (action, type) => {
  const thread_id = await here.created(ann, bob);
  const done = action === 'close' ? 200 : 201;
  const other = action === 'accept' ? bob : ann;
  const requests = [() => here.act(bob, thread_id, action), () => there.act(other, thread_id, action)];
  expect((await allAtOnce(thread_id, requests)).map(codeOf)).toEqual([done, 'INVALID_TRANSITION']);
  expect(await typesOf(first, thread_id)).toEqual(['thread.created', type]);
});

test('of an agreement and a close at once the first one stands', async () => {
  const thread_id = await here.created(ann, bob);
  const requests = [() => here.act(bob, thread_id, 'accept'), () => there.act(ann, thread_id, 'close')];
  expect((await allAtOnce(thread_id, requests)).map(codeOf)).toEqual([201, 'INVALID_TRANSITION']);
  expect(await rowOf(first, thread_id)).toMatchObject({ status: 'agreed' });
});

test('two agents that counter at once have both countered, and either may accept the later one only', async () => {
  const thread_id = await here.created(ann, bob);
  await here.post(bob, thread_id, 'counter');
  const requests = [() => here.post(ann, thread_id, 'counter'), () => there.post(bob, thread_id, 'counter')];
  expect((await allAtOnce(thread_id, requests)).map(({ body }) => body.number)).toEqual([2, 3]);
  expect(codeOf(await here.post(bob, thread_id, 'accept'))).toBe('INVALID_TRANSITION');
  expect(codeOf(await here.post(ann, thread_id, 'accept'))).toBe(201);
});

test('a message that waits while the thread runs out is refused', async () => {
  const thread_id = await here.created(ann, bob, { ttl_hours: 1 });
  const answers = await allAtOnce(thread_id, [() => here.post(bob, thread_id, 'accept')], async () =>
    clock.advance(hourMs),
  );
  expect(codes(answers)).toEqual(['INVALID_TRANSITION']);
  expect(await typesOf(first, thread_id)).toEqual(['thread.created']);
});

test('an agent that expires a thread while two replicas sweep leaves one event, whoever is first', async () => {
  for (let round = 0; round < 5; round += 1) {
    const thread_id = await here.created(ann, bob, { ttl_hours: 1 });
    clock.advance(hourMs);
    const expiring = [here.update(ann, thread_id, 'expire'), there.update(bob, thread_id, 'expire')];
    await Promise.all([expireThreads(first.context), expireThreads(second.context)]);
    expect(codes(await Promise.all(expiring))).toEqual([200, 200]);
    expect(await typesOf(first, thread_id)).toEqual(['thread.created', 'thread.expired']);
  }
});

test('a sweep passes by a thread that an agent has locked, and the agent writes the one event', async () => {
  const thread_id = await here.created(ann, bob, { ttl_hours: 1 });
  clock.advance(hourMs);
  const requests = [() => here.update(ann, thread_id, 'expire'), () => there.update(bob, thread_id, 'expire')];
  const answers = await allAtOnce(thread_id, requests, () => expireThreads(second.context));
  expect(codes(answers)).toEqual([200, 200]);
  await Promise.all([expireThreads(first.context), expireThreads(second.context)]);
  expect(await typesOf(first, thread_id)).toEqual(['thread.created', 'thread.expired']);
});
