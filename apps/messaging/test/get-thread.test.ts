import { testClock } from '@acsp/testkit';
import { type Messaging, startMessaging } from './harness.js';
import { codeOf, nowhere, signer, type Threads, threadsOf, uuidOf } from './threads.js';

let messaging: Messaging;
let threads: Threads;
const clock = testClock();
const [ann, bob, eve] = [signer('Ann'), signer('Bob'), signer('Eve')];

beforeAll(async () => {
  messaging = await startMessaging({ clock });
  threads = threadsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

const numbersOf = (messages: readonly { readonly number: number }[]) => messages.map(({ number }) => number);
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** A thread with messages that nobody had to send. */
async function longThread(count: number, payload: object): Promise<string> {
  const thread_id = await threads.created(ann, bob);
  await messaging.context.database.prisma.$executeRaw`
    INSERT INTO thread_message (thread_id, number, id, sender_aid, message_type, payload, created_at)
    SELECT ${uuidOf(thread_id)}::uuid, n, gen_random_uuid(), ${bob.aid}, 'info', ${JSON.stringify(payload)}::json, now()
    FROM generate_series(1, ${count}::int) AS n`;
  return thread_id;
}

test('answers both participants the thread and its messages, in the order of their numbers', async () => {
  const { initial_offer, created_at, expires_at, thread_id } = (await threads.create(ann, bob)).body;
  clock.advance(1000);
  const sent = [];
  for (const [who, type] of [
    [bob, 'counter'],
    [ann, 'info'],
    [ann, 'counter'],
    [bob, 'info'],
  ] as const)
    sent.push((await threads.post(who, thread_id, type, { z: 1, a: type })).body);
  const expected = {
    thread: {
      ...{ thread_id, initiator_aid: ann.aid, responder_aid: bob.aid, initial_offer, status: 'negotiating' },
      ...{ ttl_hours: 72, messages_count: 4, created_at, updated_at: clock.now().toISOString(), expires_at },
    },
    messages: sent.map(({ status: _status, ...message }) => message),
  };
  for (const who of [ann, bob]) {
    const { status, body } = await threads.details(who, thread_id);
    expect([status, body]).toEqual([200, expected]);
    expect(Object.keys(body.messages[0].payload)).toEqual(['z', 'a']);
  }
});

test('gives the newest 500 messages of a long thread, and the older ones before a number', async () => {
  const thread_id = await longThread(510, {});
  const before = async (query: string) =>
    numbersOf((await messaging.call(ann, `GET /thread/${thread_id}${query}`)).body?.messages);
  expect(await before('')).toEqual(range(11, 510));
  expect(await before('?before=11')).toEqual(range(1, 10));
  expect(await before('?before=1')).toEqual([]);
  for (const number of ['0', '-1', '1.5', 'x', '1000000000'])
    expect(codeOf(await messaging.call(ann, `GET /thread/${thread_id}?before=${number}`))).toBe('INVALID_FIELD');
});

test('gives the newest messages that fit into 6 MiB, and answers less than 8', async () => {
  const payload = { text: 'x'.repeat(16_384 - '{"text":""}'.length) };
  const thread_id = await longThread(500, payload);
  const answer = await messaging.send(ann, `GET /thread/${thread_id}`);
  const text = await answer.text();
  expect(Buffer.byteLength(text)).toBeLessThan(7 * 2 ** 20);
  expect(numbersOf(JSON.parse(text).messages)).toEqual(range(500 - 384 + 1, 500));
});

test('nobody but the participants learns that a thread exists', async () => {
  const thread_id = await threads.created(ann, bob);
  for (const id of [thread_id, nowhere])
    expect(await threads.details(eve, id)).toMatchObject({ status: 404, body: { code: 'THREAD_NOT_FOUND' } });
});

test('refuses an id that is none, a caller without a principal and an aid that is not the caller', async () => {
  const thread_id = await threads.created(ann, bob);
  for (const id of ['42', uuidOf(thread_id)])
    expect(await threads.details(ann, id)).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD' } });
  expect(codeOf(await messaging.call(undefined, `GET /thread/${thread_id}`))).toBe('AUTH_REQUIRED');
  expect(codeOf(await messaging.call(ann, `GET /thread/${thread_id}?aid=Ann`))).toBe('INVALID_AID');
  expect(codeOf(await messaging.call(ann, `GET /thread/${thread_id}?aid=${bob.aid}`))).toBe('AID_MISMATCH');
});
