import pg from 'pg';
import { agent, type Messaging, startMessaging } from './harness.js';
import { codeOf, signer, type Threads, threadsOf, uuidOf } from './threads.js';

let messaging: Messaging;
let threads: Threads;
const [ann, bob] = [signer('Ann'), signer('Bob')];
const eve = agent('Eve');

beforeAll(async () => {
  messaging = await startMessaging();
  threads = threadsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

/** Locks the row of a thread until it is disposed, as an administrator may, or a replica that stands still. */
async function holdThread(thread_id: string): Promise<AsyncDisposable> {
  const holder = new pg.Client({ connectionString: messaging.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM thread WHERE id = $1 FOR UPDATE', [uuidOf(thread_id)]);
  return { [Symbol.asyncDispose]: () => holder.end() };
}

/** More than the service has connections. */
const many = 12;
const posts = (thread_id: string) => Array.from({ length: many }, () => threads.post(bob, thread_id, 'info'));

test('a locked thread keeps no other request waiting, however many wait for it', async () => {
  const [locked, free] = [await threads.created(ann, bob), await threads.created(ann, bob)];
  await using held = await holdThread(locked);
  const waiting = posts(locked);
  const answers = await Promise.all([
    threads.post(bob, free, 'info'),
    threads.create(ann, bob),
    threads.details(bob, locked),
    threads.list(bob),
    messaging.call(eve, 'POST /inbox/read', { all: true }),
    messaging.call(eve, 'GET /message/history'),
  ]);
  expect(answers.map(codeOf)).toEqual([201, 201, 200, 200, 200, 200]);
  await held[Symbol.asyncDispose]();
  expect((await Promise.all(waiting)).map(({ body }) => body.number)).toEqual(Array.from(waiting, (_, n) => n + 1));
});

test('a thread that stays locked is a 503 for all who wait for it, and nothing is posted later', async () => {
  const thread_id = await threads.created(ann, bob);
  const held = await holdThread(thread_id);
  const answers = await Promise.all([...posts(thread_id), threads.update(ann, thread_id, 'close')]);
  expect(new Set(answers.map(codeOf))).toEqual(new Set(['SERVICE_UNAVAILABLE']));
  await held[Symbol.asyncDispose]();
  expect((await threads.post(bob, thread_id, 'info')).body).toMatchObject({ number: 1, status: 'open' });
});
