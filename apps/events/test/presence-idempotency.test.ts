import { eventually, newKey, type PostRequest, sendUnder, testRepeated } from '@acsp/testkit';
import { agent, type Events, startEvents, stranger } from './harness.js';
import { presencesOf } from './presences.js';

// The POSTs of presence under an Idempotency-Key, as the gateway hands it on: a digest of caller and key, and one of the request.

let events: Events;
let other: Events;
const ann = agent('Ann');

beforeAll(async () => {
  events = await startEvents();
  other = await startEvents({ databaseUrl: events.databaseUrl });
  // The bus makes its tables beside the start.
  await eventually(() => events.bus.feed.bounds());
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await events[Symbol.asyncDispose]();
});

const request = (path: string, body: object) => async (): Promise<PostRequest> => ({ who: agent('Eve'), path, body });

/** A request of each operation that succeeds once, and one that is refused. */
const operations = {
  subscribe: [
    request('/presence/subscribe', { watch_aids: [ann.aid] }),
    request('/presence/subscribe', { watch_aids: [stranger.aid] }),
  ],
  set: [request('/presence', { status: 'away' }), request('/presence', { status: 'asleep' })],
  heartbeat: [request('/presence/heartbeat', {}), request('/presence/heartbeat', { status: 'asleep' })],
} as const;

/** Rows of every table that an operation writes. */
async function countRows(): Promise<Record<string, number>> {
  const [counts] = await events.context.database.prisma.$queryRaw<Record<string, number>[]>`
    SELECT (SELECT count(*)::int FROM presence_watch) AS watches, (SELECT count(*)::int FROM bus.outbox) AS events,
      (SELECT count(*)::int FROM store.entry WHERE key NOT LIKE '%announcing%') AS entries,
      (SELECT count(*)::int FROM store.schedule) AS scheduled,
      (SELECT count(*)::int FROM bus.feed WHERE feed LIKE 'presence:%') AS announced`;
  return counts as Record<string, number>;
}

testRepeated({ replicas: () => [events, other], operations, countRows });

test('a repetition does not take back what the agent has said since', async () => {
  const [bob, idempotency] = [agent('Bob'), newKey()];
  const presences = presencesOf(events);
  const repeated = { who: bob, path: '/presence', body: { status: 'away' } };
  await sendUnder(events, repeated, idempotency);
  await presences.set(bob, 'busy');
  await sendUnder(other, repeated, idempotency);
  expect((await presences.get(ann, bob)).body.status).toBe('busy');
});
