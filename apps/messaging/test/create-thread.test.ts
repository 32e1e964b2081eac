import { type TestClock, testClock } from '@acsp/testkit';
import { type Messaging, startMessaging, stranger } from './harness.js';
import { codeOf, eventsOf, hourMs, rowOf, signer, type Threads, threadsOf } from './threads.js';

let messaging: Messaging;
let threads: Threads;
let clock: TestClock;
const [ann, bob] = [signer('Ann'), signer('Bob')];

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock });
  threads = threadsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

const after = (hours: number) => new Date(clock.now().getTime() + hours * hourMs).toISOString();

test('opens a thread with the offer of its initiator, and announces it to both', async () => {
  const { status, body } = await threads.create(ann, bob);
  const thread_id = expect.stringMatching(/^thr_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect([status, body]).toEqual([
    201,
    {
      thread_id,
      initiator_aid: ann.aid,
      responder_aid: bob.aid,
      initial_offer: { price: 10 },
      status: 'open',
      ttl_hours: 72,
      created_at: clock.now().toISOString(),
      expires_at: after(72),
    },
  ]);
  expect(await rowOf(messaging, body.thread_id)).toMatchObject({ latest_offer_by: 'initiator', messages_count: 0 });
  expect(await eventsOf(messaging, body.thread_id)).toMatchObject([
    {
      type: 'thread.created',
      audience: [`agent:${ann.aid}`, `agent:${bob.aid}`],
      actor: ann.aid,
      payload: {
        ...{ thread_id: body.thread_id, initiator_aid: ann.aid, responder_aid: bob.aid, actor_aid: ann.aid },
        ...{ status: 'open', previous_status: null, number: null, message_type: null },
      },
    },
  ]);
});

test('keeps the offer to the letter: order of members, markup, empty texts and null', async () => {
  const initial_offer = {
    z: '<b>R&D</b>',
    a: [1, 2.5, -0.1, 1e21, null, true, {}],
    '': '',
    ü: '\u2028 😀',
    $type: 'Json',
  };
  const thread_id = await threads.created(ann, bob, { initial_offer });
  const { thread } = (await threads.details(bob, thread_id)).body;
  expect(JSON.stringify(thread.initial_offer)).toBe(JSON.stringify(initial_offer));
});

test.each([
  [0.5, 0.5],
  [8760, 8760],
  [1e-12, 1 / hourMs],
])('lives for %p hours', async (ttl_hours, lives) => {
  const { status, body } = await threads.create(ann, bob, { ttl_hours });
  expect([status, body.ttl_hours, body.expires_at]).toEqual([201, ttl_hours, after(lives)]);
});

const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

test('takes an offer of 16 KiB and one of 16 levels', async () => {
  for (const initial_offer of [sized(16_384), nested(16), {}])
    expect((await threads.create(ann, bob, { initial_offer })).status).toBe(201);
});

test.each([
  ['no initiator', { initiator_aid: null }, 'INVALID_AID'],
  ['an initiator that is no AID', { initiator_aid: 'Ann' }, 'INVALID_AID'],
  ['no responder', { responder_aid: null }, 'INVALID_AID'],
  ['a responder that is no AID', { responder_aid: bob.aid.toUpperCase().replace(/^0/, 'F') }, 'INVALID_AID'],
  ['no offer', { initial_offer: null }, 'MISSING_FIELDS'],
  ['an offer that is a text', { initial_offer: 'ten' }, 'INVALID_FIELD'],
  ['an offer that is a list', { initial_offer: [10] }, 'INVALID_FIELD'],
  ['an offer of a byte over 16 KiB', { initial_offer: sized(16_385) }, 'INVALID_FIELD'],
  ['an offer of 17 levels', { initial_offer: nested(17) }, 'INVALID_FIELD'],
  ['an offer with NUL', { initial_offer: { a: '\0' } }, 'INVALID_FIELD'],
  ['no time to live', { ttl_hours: 0 }, 'INVALID_FIELD'],
  ['a time to live below it', { ttl_hours: -1 }, 'INVALID_FIELD'],
  ['a time to live of over a year', { ttl_hours: 8760.001 }, 'INVALID_FIELD'],
  ['a time to live that is a text', { ttl_hours: '72' }, 'INVALID_FIELD'],
  ['itself as responder', { responder_aid: ann.aid }, 'SELF_MESSAGE'],
])('refuses %s', async (_what, fields, code) => {
  const { status, body } = await threads.create(ann, bob, fields);
  expect([status, body.code]).toEqual([400, code]);
});

test('refuses a responder that is not active, a caller without a principal and an initiator that is not the caller', async () => {
  expect(await threads.create(ann, stranger)).toMatchObject({ status: 404, body: { code: 'TARGET_NOT_FOUND' } });
  const draft = { initiator_aid: ann.aid, responder_aid: bob.aid, initial_offer: {} };
  const nobody = await messaging.call(undefined, 'POST /thread/create', draft);
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  expect(codeOf(await threads.create(bob, ann, { initiator_aid: ann.aid, responder_aid: bob.aid }))).toBe(
    'AID_MISMATCH',
  );
});

test('refuses its own faults before it asks whether the responder is active', async () => {
  expect(codeOf(await threads.create(ann, stranger, { ttl_hours: 0 }))).toBe('INVALID_FIELD');
});
