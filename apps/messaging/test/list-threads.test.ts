import { type TestClock, testClock } from '@acsp/testkit';
import { statuses } from '../src/thread/decide.js';
import { expireThreads } from '../src/thread/expire-threads.js';
import { type Messaging, startMessaging } from './harness.js';
import { codeOf, hourMs, signer, type Threads, threadsOf } from './threads.js';

let messaging: Messaging;
let threads: Threads;
let clock: TestClock;
const [bob, eve] = [signer('Bob'), signer('Eve')];

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock });
  threads = threadsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

const idsOf = ({ body }: { body: { threads: { thread_id: string }[] } }) =>
  body.threads.map(({ thread_id }) => thread_id);

test('answers the threads of both sides, newest first, and no others', async () => {
  const ann = signer('Ann');
  const made: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    clock.advance(n % 2);
    made.unshift(n % 3 === 0 ? await threads.created(bob, ann) : await threads.created(ann, bob));
    await threads.created(bob, eve);
  }
  const { status, body } = await threads.list(ann);
  expect([status, idsOf({ body }), body.total]).toEqual([200, made, 6]);
  expect(body.threads[0]).toEqual((await threads.details(ann, made[0] as string)).body.thread);
});

test('an agent without threads has none', async () => {
  expect(await threads.list(signer('Zoe'))).toMatchObject({ status: 200, body: { threads: [], total: 0 } });
});

test('a page ends at its limit, 20 if nothing is said, and the total counts all', async () => {
  const ann = signer('Ann');
  const made: string[] = [];
  for (let n = 0; n < 25; n += 1) made.unshift(await threads.created(n % 2 ? ann : bob, n % 2 ? bob : ann));
  for (const [query, length] of [
    ['', 20],
    ['limit=1', 1],
    ['limit=100', 25],
  ] as const) {
    const answer = await threads.list(ann, query);
    expect([idsOf(answer), answer.body.total]).toEqual([made.slice(0, length), 25]);
  }
});

test('a walk by cursor meets every thread once, those of one millisecond too, whatever is made meanwhile', async () => {
  const ann = signer('Ann');
  const made: string[] = [];
  for (let n = 0; n < 11; n += 1) {
    if (n % 4 === 0) clock.advance(1);
    made.unshift(await threads.created(n % 2 ? ann : bob, n % 2 ? bob : ann));
  }
  const [met, totals]: [string[], number[]] = [[], []];
  for (let query: string | null = 'limit=3'; query !== null; ) {
    const { body } = await threads.list(ann, query);
    met.push(...idsOf({ body }));
    totals.push(body.total);
    query = body.next_cursor && `limit=3&cursor=${body.next_cursor}`;
    await threads.created(ann, bob);
  }
  expect(met).toEqual(made);
  expect(totals).toEqual([11, 12, 13, 14]);
});

test('a cursor behind the last thread of a status finds none, and the total all the same', async () => {
  const ann = signer('Ann');
  for (let n = 0; n < 3; n += 1) await threads.created(ann, bob);
  const { next_cursor } = (await threads.list(ann, 'limit=1')).body;
  const { body } = await threads.list(ann, `limit=1&cursor=${next_cursor}`);
  await threads.update(ann, (await threads.list(ann, 'limit=3')).body.threads[2].thread_id, 'close');
  const last = await threads.list(ann, `status=open&limit=1&cursor=${body.next_cursor}`);
  expect(last.body).toEqual({ threads: [], total: 2, next_cursor: null });
});

test.each([
  'x',
  '',
  Buffer.from('1 x').toString('base64url'),
  Buffer.from('99999999999999 00000000-0000-7000-8000-000000000000').toString('base64url'),
])('%j is no cursor', async (cursor) => {
  expect(codeOf(await threads.list(bob, `cursor=${cursor}`))).toBe('INVALID_FIELD');
});

/** Threads in every status, and in both live ones a thread that has run out. */
async function oneOfEach(ann: typeof bob) {
  const ranOut = [
    await threads.created(ann, bob, { ttl_hours: 1 }),
    await threads.created(bob, ann, { ttl_hours: 1 }),
    await threads.created(bob, ann, { ttl_hours: 1 }),
  ];
  await threads.post(ann, ranOut[1] as string, 'counter');
  await threads.post(bob, ranOut[2] as string, 'info');
  clock.advance(hourMs);
  const [open, negotiating, agreed, rejected, closed] = [
    await threads.created(ann, bob),
    await threads.created(ann, bob),
    await threads.created(bob, ann),
    await threads.created(ann, bob),
    await threads.created(bob, ann),
  ];
  await threads.post(bob, negotiating, 'offer');
  await threads.post(ann, agreed, 'accept');
  await threads.post(ann, rejected, 'reject');
  await threads.update(ann, closed, 'close');
  return {
    open: [open],
    negotiating: [negotiating],
    agreed: [agreed],
    rejected: [rejected],
    closed: [closed],
    expired: ranOut.reverse(),
  };
}

test('each status lists its own, and a thread that ran out is expired before its row says so as after it', async () => {
  const ann = signer('Ann');
  const expected = await oneOfEach(ann);
  for (const when of ['before', 'after']) {
    for (const status of statuses) {
      const answer = await threads.list(ann, `status=${status}`);
      expect([when, status, idsOf(answer), answer.body.total]).toEqual([
        when,
        status,
        expected[status],
        expected[status].length,
      ]);
      for (const thread of answer.body.threads) expect(thread.status).toBe(status);
      const first = await threads.list(ann, `status=${status}&limit=1`);
      expect([idsOf(first), first.body.total]).toEqual([expected[status].slice(0, 1), expected[status].length]);
    }
    const all = (await threads.list(ann)).body;
    expect(all.total).toBe(8);
    expect(all.threads.filter(({ status }: { status: string }) => status === 'expired')).toHaveLength(3);
    await expireThreads(messaging.context);
  }
});

test.each([
  ['status=over'],
  ['status='],
  ['status=open,closed'],
  ['limit=0'],
  ['limit=101'],
  ['limit=ten'],
  ['limit=1.5'],
])('refuses %s', async (query) => {
  const { status, body } = await threads.list(bob, query);
  expect([status, body.code]).toEqual([400, 'INVALID_FIELD']);
});

test('refuses a caller without a principal, and an aid that is none or not the caller', async () => {
  expect(codeOf(await messaging.call(undefined, 'GET /threads'))).toBe('AUTH_REQUIRED');
  expect(codeOf(await messaging.call(bob, 'GET /threads?aid=Bob'))).toBe('INVALID_AID');
  expect(codeOf(await messaging.call(bob, `GET /threads?aid=${eve.aid}`))).toBe('AID_MISMATCH');
});
