import { eventually, type TestClock, testClock, withHalfMinuteJob } from '@acsp/testkit';
import { expireThreads } from '../src/thread/expire-threads.js';
import { type Messaging, startMessaging } from './harness.js';
import { codeOf, eventsOf, hourMs, rowOf, signer, type Threads, threadsOf, typesOf } from './threads.js';

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

const sweep = () => expireThreads(messaging.context);

/** A thread with an hour to live. */
async function shortLived(status: 'open' | 'negotiating'): Promise<string> {
  const thread_id = await threads.created(ann, bob, { ttl_hours: 1 });
  if (status === 'negotiating') await threads.post(bob, thread_id, 'counter');
  return thread_id;
}

describe.each(['open', 'negotiating'] as const)('a thread that is %s', (status) => {
  test('lives up to its last millisecond', async () => {
    const thread_id = await shortLived(status);
    clock.advance(hourMs - 1);
    expect((await threads.details(bob, thread_id)).body.thread.status).toBe(status);
    await sweep();
    expect((await threads.post(ann, thread_id, 'info')).body.status).toBe(status);
  });

  test('is expired for every reader at once, before the sweep as after it', async () => {
    const thread_id = await shortLived(status);
    clock.advance(hourMs);
    const before = (await threads.details(ann, thread_id)).body;
    expect(before.thread).toMatchObject({ status: 'expired', updated_at: before.thread.expires_at });
    clock.advance(1);
    expect((await rowOf(messaging, thread_id)).status).toBe(status);
    await sweep();
    expect((await rowOf(messaging, thread_id)).status).toBe('expired');
    expect((await threads.details(ann, thread_id)).body).toEqual(before);
  });

  test('refuses every writer at once, before the sweep as after it', async () => {
    const thread_id = await shortLived(status);
    clock.advance(hourMs);
    for (const when of ['before', 'after']) {
      const [row, events] = [await rowOf(messaging, thread_id), await eventsOf(messaging, thread_id)];
      for (const who of [ann, bob])
        for (const action of ['offer', 'counter', 'accept', 'reject', 'info', 'close'] as const) {
          const answer = await threads.act(who, thread_id, action);
          expect([when, action, answer.status, codeOf(answer)]).toEqual([when, action, 409, 'INVALID_TRANSITION']);
        }
      expect([await rowOf(messaging, thread_id), await eventsOf(messaging, thread_id)]).toEqual([row, events]);
      await sweep();
    }
  });

  test('is written down by the sweep once, with one event for both', async () => {
    const thread_id = await shortLived(status);
    clock.advance(2 * hourMs);
    const before = await rowOf(messaging, thread_id);
    await Promise.all([sweep(), sweep(), sweep()]);
    await sweep();
    const { expires_at } = before;
    expect(await rowOf(messaging, thread_id)).toEqual({ ...before, status: 'expired', updated_at: expires_at });
    expect((await eventsOf(messaging, thread_id)).filter(({ type }) => type === 'thread.expired')).toMatchObject([
      {
        audience: [`agent:${ann.aid}`, `agent:${bob.aid}`],
        actor: null,
        payload: {
          ...{ thread_id, initiator_aid: ann.aid, responder_aid: bob.aid, actor_aid: null },
          ...{ status: 'expired', previous_status: status, number: null, message_type: null },
        },
      },
    ]);
  });
});

test('the sweep takes any number of threads, and what others have locked keeps none of them waiting', async () => {
  const zoe = signer('Zoe');
  const { prisma, pool } = messaging.context.database;
  await prisma.$executeRaw`
    INSERT INTO thread (id, initiator_aid, responder_aid, initial_offer, ttl_hours, created_at, updated_at, expires_at)
    SELECT gen_random_uuid(), ${zoe.aid}, ${bob.aid}, '{}', 1, now, now, now FROM generate_series(1, 450), (SELECT ${clock.now()}::timestamptz AS now) AS time`;
  const left = () => prisma.thread.count({ where: { initiator_aid: zoe.aid, status: 'open' } });
  const holder = await pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM thread WHERE initiator_aid = $1 ORDER BY id LIMIT 3 FOR UPDATE', [zoe.aid]);
    await sweep();
    expect(await left()).toBe(3);
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
  await sweep();
  expect(await left()).toBe(0);
  const [count] = await prisma.$queryRaw<object[]>`
    SELECT count(*)::int AS events, count(DISTINCT payload->>'thread_id')::int AS threads FROM bus.outbox
    WHERE type = 'thread.expired' AND payload->>'initiator_aid' = ${zoe.aid}`;
  expect(count).toEqual({ events: 450, threads: 450 });
});

test('a sweep that is stopped begins no further batch', async () => {
  const thread_id = await shortLived('open');
  clock.advance(hourMs);
  await expireThreads(messaging.context, AbortSignal.abort());
  expect(await typesOf(messaging, thread_id)).toEqual(['thread.created']);
});

test('the service sweeps by itself, twice a minute', async () => {
  const [service, runSweep] = await withHalfMinuteJob(() => startMessaging({ clock, sweeps: true }));
  await using alone = service;
  const thread_id = await threadsOf(alone).created(ann, bob, { ttl_hours: 1 });
  clock.advance(hourMs);
  runSweep();
  await eventually(async () => (await rowOf(alone, thread_id)).status === 'expired');
});
