import type { Agent } from '@acsp/operation';
import { type TestClock, testClock } from '@acsp/testkit';
import { type Answer, type Messaging, startMessaging } from './harness.js';
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

interface Request {
  readonly who: Agent;
  readonly path: string;
  readonly body: object;
}

let keys = 0;
const newKey = () => {
  keys += 1;
  return { key: `key ${keys}`, print: `print ${keys}` };
};
const send = ({ who, path, body }: Request, idempotency: ReturnType<typeof newKey>, at = messaging) =>
  at.call({ ...who, idempotency }, `POST ${path}`, body);

const draft = { initiator_aid: ann.aid, responder_aid: bob.aid, initial_offer: { price: 10 } };
async function message(who: Agent, message_type: string): Promise<Request> {
  const thread_id = await threads.created(ann, bob);
  return { who, path: '/thread/message', body: { thread_id, message_type, payload: {} } };
}
async function status(who: Agent, new_status: string): Promise<Request> {
  const thread_id = await threads.created(ann, bob, { ttl_hours: 1 });
  if (new_status === 'expire') clock.advance(hourMs);
  return { who, path: '/thread/status', body: { thread_id, new_status } };
}

/** A request of each operation that succeeds once, and one that is refused. */
const operations: Record<string, readonly [() => Promise<Request>, () => Promise<Request>]> = {
  create: [
    async () => ({ who: ann, path: '/thread/create', body: draft }),
    async () => ({ who: ann, path: '/thread/create', body: { ...draft, responder_aid: ann.aid } }),
  ],
  message: [() => message(bob, 'counter'), () => message(ann, 'accept')],
  close: [() => status(bob, 'close'), () => status(eve, 'close')],
  expire: [() => status(bob, 'expire'), () => status(eve, 'expire')],
};
const names = Object.keys(operations);

/** Rows of every table that an operation writes. */
async function countRows(): Promise<object> {
  const [counts] = await messaging.context.database.prisma.$queryRaw<object[]>`
    SELECT (SELECT count(*)::int FROM thread) AS threads, (SELECT count(*)::int FROM thread_message) AS messages,
      (SELECT sum(messages_count)::int FROM thread) AS counted, (SELECT count(*)::int FROM bus.outbox) AS events`;
  return counts as object;
}
const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

test.each(names)('%s is done once and answered alike, however often and wherever it is repeated', async (name) => {
  const request = await (operations[name] as (typeof operations)[string])[0]();
  const [before, idempotency] = [await countRows(), newKey()];
  const first = await send(request, idempotency);
  expect([200, 201]).toContain(first.status);
  expect(isReplayed(first)).toBe(false);
  const after = await countRows();
  expect(after).not.toEqual(before);
  for (const at of [messaging, other]) {
    const again = await send(request, idempotency, at);
    expect([again.status, again.body, isReplayed(again)]).toEqual([first.status, first.body, true]);
  }
  expect(await countRows()).toEqual(after);
});

test.each(names)(
  '%s that comes in several times at once, in two services, is done once and answered alike',
  async (name) => {
    for (let round = 0; round < 3; round += 1) {
      const request = await (operations[name] as (typeof operations)[string])[0]();
      const [before, idempotency] = [(await countRows()) as { events: number }, newKey()];
      const answers = await Promise.all(
        [messaging, other, messaging, other].map((at) => send(request, idempotency, at)),
      );
      expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
      expect([200, 201]).toContain(answers[0]?.status);
      expect(await countRows()).toMatchObject({ events: before.events + 1 });
    }
  },
);

test.each(names)('%s keeps its answer by the commit of its change', async (name) => {
  const request = await (operations[name] as (typeof operations)[string])[0]();
  const idempotency = newKey();
  const { body } = await send(request, idempotency);
  const [commits] = await messaging.context.database.prisma.$queryRaw<Record<string, string>[]>`
    SELECT (SELECT xmin::text FROM idempotency.answer WHERE key = ${idempotency.key}) AS answer,
      (SELECT xmin::text FROM thread WHERE id = ${uuidOf(body.thread_id)}::uuid) AS change`;
  expect(commits?.answer).toMatch(/^\d+$/);
  expect(commits?.answer).toBe(commits?.change);
});

test.each(names)('%s that is refused stays refused, in two services at once too', async (name) => {
  const request = await (operations[name] as (typeof operations)[string])[1]();
  const [before, idempotency] = [await countRows(), newKey()];
  const answers = await Promise.all([messaging, other].map((at) => send(request, idempotency, at)));
  expect(answers[0]?.status).toBeGreaterThanOrEqual(400);
  expect(answers[1]?.body).toEqual(answers[0]?.body);
  const again = await send(request, idempotency);
  expect([again.status, again.body, isReplayed(again)]).toEqual([answers[0]?.status, answers[0]?.body, true]);
  expect(await countRows()).toEqual(before);
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
