import type { Agent } from '@acsp/operation';
import { newKey, type PostRequest, sendUnder, type TestClock, testClock, testRepeated } from '@acsp/testkit';
import { type Messaging, startMessaging } from './harness.js';
import { codeOf, hourMs, signer, type Threads, threadsOf, uuidOf } from './threads.js';

// Each POST of threads under an Idempotency-Key, as the gateway hands it on: a digest of caller and key, and one of the request.

let messaging: Messaging;
let other: Messaging;
let threads: Threads;
let clock: TestClock;
const [ann, bob, eve] = [signer('Ann'), signer('Bob'), signer('Eve')];

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock });
  other = await startMessaging({ clock, databaseUrl: messaging.databaseUrl });
  threads = threadsOf(messaging);
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await messaging[Symbol.asyncDispose]();
});

const send = (request: PostRequest, idempotency: ReturnType<typeof newKey>, at = messaging) =>
  sendUnder(at, request, idempotency);

const draft = { initiator_aid: ann.aid, responder_aid: bob.aid, initial_offer: { price: 10 } };
async function message(who: Agent, message_type: string): Promise<PostRequest> {
  const thread_id = await threads.created(ann, bob);
  return { who, path: '/thread/message', body: { thread_id, message_type, payload: {} } };
}
async function status(who: Agent, new_status: string): Promise<PostRequest> {
  const thread_id = await threads.created(ann, bob, { ttl_hours: 1 });
  if (new_status === 'expire') clock.advance(hourMs);
  return { who, path: '/thread/status', body: { thread_id, new_status } };
}

/** A request of each operation that succeeds once, and one that is refused. */
const operations: Record<string, readonly [() => Promise<PostRequest>, () => Promise<PostRequest>]> = {
  create: [
    async () => ({ who: ann, path: '/thread/create', body: draft }),
    async () => ({ who: ann, path: '/thread/create', body: { ...draft, responder_aid: ann.aid } }),
  ],
  message: [() => message(bob, 'counter'), () => message(ann, 'accept')],
  close: [() => status(bob, 'close'), () => status(eve, 'close')],
  expire: [() => status(bob, 'expire'), () => status(eve, 'expire')],
};

/** Rows of every table that an operation writes. */
async function countRows(): Promise<Record<string, number>> {
  const [counts] = await messaging.context.database.prisma.$queryRaw<Record<string, number>[]>`
    SELECT (SELECT count(*)::int FROM thread) AS threads, (SELECT count(*)::int FROM thread_message) AS messages,
      (SELECT sum(messages_count)::int FROM thread) AS counted, (SELECT count(*)::int FROM bus.outbox) AS events`;
  return counts as Record<string, number>;
}

testRepeated({ replicas: () => [messaging, other], operations, countRows });

test.each(Object.keys(operations))('%s keeps its answer by the commit of its change', async (name) => {
  const request = await (operations[name] as (typeof operations)[string])[0]();
  const idempotency = newKey();
  const { body } = await send(request, idempotency);
  const [commits] = await messaging.context.database.prisma.$queryRaw<Record<string, string>[]>`
    SELECT (SELECT xmin::text FROM idempotency.answer WHERE key = ${idempotency.key}) AS answer,
      (SELECT xmin::text FROM thread WHERE id = ${uuidOf(body.thread_id)}::uuid) AS change`;
  expect(commits?.answer).toMatch(/^\d+$/);
  expect(commits?.answer).toBe(commits?.change);
});

test('a message that is repeated without a key is a second message, and closing again is refused', async () => {
  const thread_id = await threads.created(ann, bob);
  for (const number of [1, 2]) expect((await threads.post(ann, thread_id, 'info')).body).toMatchObject({ number });
  expect(codeOf(await threads.update(ann, thread_id, 'close'))).toBe(200);
  expect(codeOf(await threads.update(ann, thread_id, 'close'))).toBe('INVALID_TRANSITION');
});

test('another request under the same key is refused, and changes nothing', async () => {
  const { key, print } = newKey();
  const request = { who: ann, path: '/thread/create', body: draft };
  expect((await send(request, { key, print })).status).toBe(201);
  const before = await countRows();
  const second = await send({ ...request, body: { ...draft, ttl_hours: 1 } }, { key, print: 'other' });
  expect(second).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  expect(await countRows()).toEqual(before);
});
