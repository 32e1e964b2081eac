import { type TestClock, testClock } from '@acsp/testkit';
import { type Messaging, startMessaging } from './harness.js';
import { codeOf, eventsOf, hourMs, nowhere, rowOf, signer, type Threads, threadsOf, typesOf } from './threads.js';

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

test.each([
  ['close', 'initiator', ann],
  ['closed', 'responder', bob],
] as const)('%s by the %s closes it, without a message', async (new_status, _by, who) => {
  const thread_id = await threads.created(ann, bob);
  clock.advance(1000);
  const { status, body } = await threads.update(who, thread_id, new_status);
  expect([status, body]).toEqual([200, { thread_id, status: 'closed', updated_at: clock.now().toISOString() }]);
  expect((await threads.details(ann, thread_id)).body).toMatchObject({
    thread: { status: 'closed', messages_count: 0 },
    messages: [],
  });
  expect((await eventsOf(messaging, thread_id)).slice(1)).toMatchObject([
    {
      type: 'thread.closed',
      audience: [`agent:${ann.aid}`, `agent:${bob.aid}`],
      actor: who.aid,
      payload: { status: 'closed', previous_status: 'open', number: null, message_type: null, actor_aid: who.aid },
    },
  ]);
});

test('expire is refused while the thread lives, and from its last moment on leaves it expired, once', async () => {
  const { expires_at, thread_id } = (await threads.create(ann, bob, { ttl_hours: 1 })).body;
  clock.advance(hourMs - 1);
  expect(codeOf(await threads.update(ann, thread_id, 'expire'))).toBe('INVALID_TRANSITION');
  clock.advance(1);
  expect((await rowOf(messaging, thread_id)).status).toBe('open');
  for (const [who, new_status] of [
    [ann, 'expire'],
    [bob, 'expired'],
    [ann, 'expire'],
  ] as const) {
    const { status, body } = await threads.update(who, thread_id, new_status);
    expect([status, body]).toEqual([200, { thread_id, status: 'expired', updated_at: expires_at }]);
    expect((await rowOf(messaging, thread_id)).status).toBe('expired');
  }
  expect((await eventsOf(messaging, thread_id)).slice(1)).toMatchObject([
    {
      type: 'thread.expired',
      audience: [`agent:${ann.aid}`, `agent:${bob.aid}`],
      actor: null,
      payload: { status: 'expired', previous_status: 'open', number: null, message_type: null, actor_aid: null },
    },
  ]);
});

test.each(['accept', 'reject', 'close'] as const)(
  'nothing leaves the state after %s, not by time either',
  async (action) => {
    const thread_id = await threads.created(ann, bob, { ttl_hours: 1 });
    await threads.act(bob, thread_id, action);
    const before = await rowOf(messaging, thread_id);
    for (const ms of [0, 2 * hourMs]) {
      clock.advance(ms);
      for (const who of [ann, bob])
        for (const next of ['offer', 'counter', 'accept', 'reject', 'info', 'close', 'expire'] as const) {
          const { status, body } = await threads.act(who, thread_id, next);
          expect([next, status, body.code]).toEqual([next, 409, 'INVALID_TRANSITION']);
        }
    }
    expect(await rowOf(messaging, thread_id)).toEqual(before);
    expect(await typesOf(messaging, thread_id)).toHaveLength(2);
  },
);

test.each([
  ['no thread', { thread_id: null }, 'MISSING_FIELDS'],
  ['a thread that is none', { thread_id: '42' }, 'INVALID_FIELD'],
  ['no status', { new_status: null }, 'MISSING_FIELDS'],
  ['a status that nobody sets', { new_status: 'agreed' }, 'INVALID_FIELD'],
  ['an aid that is none', { aid: 'Ann' }, 'INVALID_AID'],
])('refuses %s', async (_what, fields, code) => {
  const body = { aid: ann.aid, thread_id: nowhere, new_status: 'close', ...fields };
  const answer = await messaging.call(ann, 'POST /thread/status', body);
  expect([answer.status, answer.body.code]).toEqual([400, code]);
});

test('refuses strangers, a caller without a principal and an aid that is not the caller', async () => {
  const thread_id = await threads.created(ann, bob);
  expect(await threads.update(eve, thread_id, 'close')).toMatchObject({
    status: 404,
    body: { code: 'THREAD_NOT_FOUND' },
  });
  expect(codeOf(await threads.update(ann, nowhere, 'close'))).toBe('THREAD_NOT_FOUND');
  const body = { aid: ann.aid, thread_id, new_status: 'close' };
  expect(codeOf(await messaging.call(undefined, 'POST /thread/status', body))).toBe('AUTH_REQUIRED');
  expect(codeOf(await messaging.call(bob, 'POST /thread/status', body))).toBe('AID_MISMATCH');
  expect((await rowOf(messaging, thread_id)).status).toBe('open');
});
