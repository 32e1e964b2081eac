import { type TestClock, testClock } from '@acsp/testkit';
import { type Messaging, startMessaging } from './harness.js';
import { codeOf, eventsOf, nowhere, rowOf, signer, type Threads, threadsOf } from './threads.js';

let messaging: Messaging;
let threads: Threads;
let clock: TestClock;
const [ann, bob, eve] = [signer('Ann'), signer('Bob'), signer('Eve')];

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock });
  threads = threadsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

test('a negotiation goes from an offer over a counter to an agreement', async () => {
  const thread_id = await threads.created(ann, bob);
  clock.advance(1000);
  const { status, body } = await threads.post(bob, thread_id, 'counter', { price: 12 });
  expect([status, body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      thread_id,
      number: 1,
      sender_aid: bob.aid,
      message_type: 'counter',
      payload: { price: 12 },
      status: 'negotiating',
      created_at: clock.now().toISOString(),
    },
  ]);
  expect((await threads.post(ann, thread_id, 'info', { note: 'Thinking' })).body).toMatchObject({ number: 2 });
  expect((await threads.post(ann, thread_id, 'counter', { price: 11 })).body).toMatchObject({ status: 'negotiating' });
  expect(codeOf(await threads.post(ann, thread_id, 'accept'))).toBe('INVALID_TRANSITION');
  expect((await threads.post(bob, thread_id, 'accept')).body).toMatchObject({ number: 4, status: 'agreed' });
  expect(await rowOf(messaging, thread_id)).toMatchObject({ status: 'agreed', messages_count: 4 });
});

test.each([
  ['offer', 'initiator', 'thread.offered', 'open'],
  ['offer', 'responder', 'thread.offered', 'negotiating'],
  ['counter', 'responder', 'thread.countered', 'negotiating'],
  ['accept', 'responder', 'thread.accepted', 'agreed'],
  ['reject', 'responder', 'thread.rejected', 'rejected'],
  ['reject', 'initiator', 'thread.rejected', 'rejected'],
  ['info', 'initiator', 'thread.informed', 'open'],
] as const)('%s by the %s is one message and one event, %s, for both', async (message_type, by, type, status) => {
  const who = { initiator: ann, responder: bob }[by];
  const thread_id = await threads.created(ann, bob);
  expect((await threads.post(who, thread_id, message_type)).body).toMatchObject({ number: 1, status });
  expect((await eventsOf(messaging, thread_id)).slice(1)).toMatchObject([
    {
      type,
      audience: [`agent:${ann.aid}`, `agent:${bob.aid}`],
      actor: who.aid,
      payload: {
        ...{ thread_id, initiator_aid: ann.aid, responder_aid: bob.aid, actor_aid: who.aid },
        ...{ status, previous_status: 'open', number: 1, message_type },
      },
    },
  ]);
});

test('a refused message leaves nothing behind', async () => {
  const thread_id = await threads.created(ann, bob);
  const before = await rowOf(messaging, thread_id);
  expect(await threads.post(ann, thread_id, 'accept')).toMatchObject({
    status: 409,
    body: { code: 'INVALID_TRANSITION' },
  });
  expect(await rowOf(messaging, thread_id)).toEqual(before);
  expect((await threads.details(ann, thread_id)).body.messages).toEqual([]);
  expect(await eventsOf(messaging, thread_id)).toHaveLength(1);
});

test('an initiator that offers again replaces its offer, and the first one stays as initial_offer', async () => {
  const thread_id = await threads.created(ann, bob);
  await threads.post(ann, thread_id, 'offer', { price: 8 });
  expect(codeOf(await threads.post(ann, thread_id, 'accept'))).toBe('INVALID_TRANSITION');
  const { thread, messages } = (await threads.details(bob, thread_id)).body;
  expect(thread).toMatchObject({ status: 'open', initial_offer: { price: 10 } });
  expect(messages).toMatchObject([{ message_type: 'offer', payload: { price: 8 } }]);
});

test.each([
  ['no thread', { thread_id: null }, 'MISSING_FIELDS'],
  ['a thread without its prefix', { thread_id: nowhere.slice(4) }, 'INVALID_FIELD'],
  ['a thread with a prefix in capitals', { thread_id: nowhere.replace('thr', 'THR') }, 'INVALID_FIELD'],
  ['a thread that is no UUID', { thread_id: 'thr_42' }, 'INVALID_FIELD'],
  ['a thread that is a number', { thread_id: 42 }, 'INVALID_FIELD'],
  ['no type', { message_type: null }, 'MISSING_FIELDS'],
  ['a type that there is not', { message_type: 'close' }, 'INVALID_FIELD'],
  ['no payload', { payload: null }, 'MISSING_FIELDS'],
  ['a payload that is a list', { payload: [] }, 'INVALID_FIELD'],
  ['a payload over 16 KiB', { payload: { a: 'x'.repeat(16_384) } }, 'INVALID_FIELD'],
  ['an aid that is none', { aid: 'Ann' }, 'INVALID_AID'],
])('refuses %s', async (_what, fields, code) => {
  const body = { aid: ann.aid, thread_id: nowhere, message_type: 'info', payload: {}, ...fields };
  const answer = await messaging.call(ann, 'POST /thread/message', body);
  expect([answer.status, answer.body.code]).toEqual([400, code]);
});

test('takes an id with its UUID in capitals', async () => {
  const thread_id = await threads.created(ann, bob);
  const { status, body } = await threads.post(ann, `thr_${thread_id.slice(4).toUpperCase()}`, 'info');
  expect([status, body.thread_id]).toEqual([201, thread_id]);
});

test('nobody but the participants learns that a thread exists', async () => {
  const thread_id = await threads.created(ann, bob);
  const unknown = await threads.post(eve, nowhere, 'info');
  expect([unknown.status, unknown.body.code]).toEqual([404, 'THREAD_NOT_FOUND']);
  const foreign = await threads.post(eve, thread_id, 'info');
  const { request_id: _one, ...rest } = foreign.body;
  const { request_id: _other, ...expected } = unknown.body;
  expect(rest).toEqual(expected);
  expect(await rowOf(messaging, thread_id)).toMatchObject({ messages_count: 0 });
});

test('refuses a caller without a principal, and an aid that is not the caller', async () => {
  const body = { aid: ann.aid, thread_id: await threads.created(ann, bob), message_type: 'info', payload: {} };
  expect(codeOf(await messaging.call(undefined, 'POST /thread/message', body))).toBe('AUTH_REQUIRED');
  expect(codeOf(await messaging.call(bob, 'POST /thread/message', body))).toBe('AID_MISMATCH');
});
