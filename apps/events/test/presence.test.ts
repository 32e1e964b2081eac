import { EventsService } from '@acsp/contracts/events/v1/events';
import { createPeer, type Peer } from '@acsp/service';
import { type TestClock, testClock } from '@acsp/testkit';
import { agent, type Events, startEvents, stranger } from './harness.js';
import { codeOf, presencesOf } from './presences.js';

let events: Events;
let peer: Peer<typeof EventsService>;
let clock: TestClock;
let presences: ReturnType<typeof presencesOf>;
const ann = agent('Ann');
const registered = new Map<string, number>();

beforeAll(async () => {
  clock = testClock();
  events = await startEvents({ clock, registered });
  peer = createPeer(EventsService, { ...events, name: 'identity' });
  presences = presencesOf(events);
});
afterAll(async () => {
  peer[Symbol.dispose]();
  await events[Symbol.asyncDispose]();
});

const statuses = ['online', 'away', 'busy', 'idle', 'offline'];
const seen = ({ aid }: { aid: string }, status: string, at: Date | null) => ({
  aid,
  status,
  last_seen: at?.toISOString() ?? null,
});

test.each(statuses)('an agent may set %s, and beat with it, and every agent sees it', async (status) => {
  const bob = agent('Bob');
  const metadata = { mood: ['calm'] };
  expect((await presences.set(bob, status, { metadata, aid: bob.aid })).body).toEqual({
    ...seen(bob, status, clock.now()),
    metadata,
  });
  expect((await presences.get(ann, bob)).body).toEqual(seen(bob, status, clock.now()));
  clock.advance(10);
  const { body } = await presences.beat(bob, { status });
  expect(body).toEqual({ ok: true, status, next_heartbeat_seconds: 60 });
  expect((await presences.get(ann, bob)).body).toEqual(seen(bob, status, clock.now()));
});

test('a heartbeat without a status is one of an agent that is online', async () => {
  const bob = agent('Bob');
  await presences.set(bob, 'away');
  expect((await presences.beat(bob)).body.status).toBe('online');
  expect((await presences.get(bob, bob)).body.status).toBe('online');
});

test('metadata stays until it is set again', async () => {
  const bob = agent('Bob');
  expect((await presences.set(bob, 'online')).body.metadata).toEqual({});
  await presences.beat(bob, { metadata: { a: 1 } });
  await presences.beat(bob);
  expect((await presences.set(bob, 'away')).body.metadata).toEqual({ a: 1 });
  expect((await presences.set(bob, 'away', { metadata: { b: 2 } })).body.metadata).toEqual({ b: 2 });
});

test('a heartbeat is good for 150 seconds, and then the agent is offline for every reader, swept or not', async () => {
  const bob = agent('Bob');
  await presences.beat(bob, { status: 'busy' });
  const at = clock.now();
  clock.advance(150_000);
  expect((await presences.get(ann, bob)).body).toEqual(seen(bob, 'busy', at));
  clock.advance(1);
  expect((await presences.get(ann, bob)).body).toEqual(seen(bob, 'offline', at));
  expect((await presences.list(ann, [bob])).body.presences).toEqual([seen(bob, 'offline', at)]);
  expect((await peer.batchGetPresence({ aids: [bob.aid] })).presences).toMatchObject([{ status: 'offline' }]);
});

test('an agent that was never seen is offline, and one that nobody knows is not found', async () => {
  const bob = agent('Bob');
  expect((await presences.get(ann, bob)).body).toEqual(seen(bob, 'offline', null));
  expect(codeOf(await presences.get(ann, stranger))).toBe('404 AID_NOT_FOUND');
});

test.each(['/presence', '/presence-get', '/presence/get'])(
  'GET %s answers for one agent or for several',
  async (path) => {
    const bob = agent('Bob');
    await presences.set(bob, 'away');
    const shown = seen(bob, 'away', clock.now());
    expect((await events.call(ann, `GET ${path}?aid=${bob.aid}`)).body).toEqual(shown);
    expect((await events.call(ann, `GET ${path}?aids=${bob.aid}`)).body).toEqual({ presences: [shown] });
  },
);

test('a list has one answer for each AID in the order that was asked for, unknown ones and repeated ones too', async () => {
  const [bob, eve] = [agent('Bob'), agent('Eve')];
  await presences.set(bob, 'idle');
  const { body } = await presences.list(ann, [eve, bob, stranger, bob]);
  const idle = seen(bob, 'idle', clock.now());
  expect(body.presences).toEqual([seen(eve, 'offline', null), idle, seen(stranger, 'offline', null), idle]);
});

test('fifty agents are listed at once, and no more', async () => {
  const many = Array.from({ length: 50 }, () => agent('One'));
  await Promise.all(many.map((one) => presences.beat(one)));
  const { body } = await presences.list(ann, many);
  expect(body.presences).toEqual(many.map((one) => seen(one, 'online', clock.now())));
  expect(codeOf(await presences.list(ann, [...many, ann]))).toBe('400 INVALID_FIELD');
});

test('a service asks for a hundred agents, by life where it knows when they registered', async () => {
  const many = Array.from({ length: 100 }, () => agent('One'));
  await Promise.all(many.slice(50).map((one) => presences.beat(one)));
  const aids = many.map(({ aid }) => aid);
  const registered_at = many.map(({ registeredAt = 0 }) => new Date(registeredAt));
  const expected = many.map(({ aid }, index) =>
    index < 50 ? { aid, status: 'offline', last_seen: null } : { aid, status: 'online', last_seen: clock.now() },
  );
  expect((await peer.batchGetPresence({ aids })).presences).toEqual(expected);
  expect((await peer.batchGetPresence({ aids, registered_at })).presences).toEqual(expected);
  const later = registered_at.map((date) => new Date(date.getTime() + 1));
  const { presences: ofLater } = await peer.batchGetPresence({ aids, registered_at: later });
  expect(new Set(ofLater.map(({ status }) => status))).toEqual(new Set(['offline']));
  expect((await peer.batchGetPresence({ aids: [] })).presences).toEqual([]);
  const refused = expect.objectContaining({ code: 'INVALID_FIELD' });
  await expect(peer.batchGetPresence({ aids: [...aids, ann.aid] })).rejects.toEqual(refused);
  await expect(peer.batchGetPresence({ aids, registered_at: later.slice(1) })).rejects.toEqual(refused);
});

test('a later life of an agent was never seen, and the former one neither reads as it nor writes over it', async () => {
  const former = agent('Back');
  const back = { ...former, registeredAt: clock.now().getTime() };
  await presences.set(former, 'busy');
  registered.set(back.aid, back.registeredAt);
  expect((await presences.get(ann, back)).body).toEqual(seen(back, 'offline', null));
  await presences.set(back, 'away');
  await presences.set(former, 'online');
  expect((await presences.get(ann, back)).body.status).toBe('away');
});

describe('refuses', () => {
  const aid = ann.aid;
  test.each([
    ['POST /presence', {}, '400 MISSING_FIELDS'],
    ['POST /presence', { status: 'asleep' }, '400 INVALID_FIELD'],
    ['POST /presence', { status: 'online', metadata: 'x' }, '400 INVALID_METADATA'],
    ['POST /presence', { status: 'online', aid: agent('Other').aid }, '403 AID_MISMATCH'],
    ['POST /presence/heartbeat', { status: 7 }, '400 INVALID_FIELD'],
    ['POST /presence/subscribe', {}, '400 MISSING_FIELDS'],
    ['POST /presence/subscribe', { watch_aids: [] }, '400 INVALID_FIELD'],
    ['POST /presence/subscribe', { watch_aids: aid }, '400 INVALID_FIELD'],
    ['POST /presence/subscribe', { watch_aids: ['x'] }, '400 INVALID_AID'],
    ['POST /presence/subscribe', { target_aids: Array(51).fill(aid) }, '400 INVALID_FIELD'],
    ['POST /presence/subscribe', { watch_aids: [aid, stranger.aid] }, '404 TARGET_NOT_FOUND'],
    ['GET /presence', undefined, '400 INVALID_AID'],
    ['GET /presence?aid=x', undefined, '400 INVALID_AID'],
    ['GET /presence?aids=', undefined, '400 INVALID_AID'],
    [`GET /presence?aids=${aid},`, undefined, '400 INVALID_AID'],
  ])('%s %j with %s', async (request, body, code) => expect(codeOf(await events.call(ann, request, body))).toBe(code));

  test.each(['POST /presence', 'POST /presence/heartbeat', 'POST /presence/subscribe', 'GET /presence'])(
    '%s without a caller',
    async (request) => {
      const body = request.startsWith('POST') ? { status: 'online', watch_aids: [aid] } : undefined;
      expect(codeOf(await events.call(undefined, request, body))).toBe('401 AUTH_REQUIRED');
    },
  );
});

describe('a subscription', () => {
  const watchesOf = ({ aid }: { aid: string }) =>
    events.context.database.prisma.presenceWatch.findMany({ where: { aid } });

  test('is the channel of its id, and watches each agent once, the caller itself too', async () => {
    const [eve, bob] = [agent('Eve'), agent('Bob')];
    const { status, body } = await presences.watch(eve, [bob, ann, bob, eve]);
    const [watch] = await watchesOf(eve);
    expect([status, body]).toEqual([200, { subscribed: true, watching: 3, channel: `presence:${watch?.id}` }]);
    expect(watch?.watch_aids).toEqual([bob.aid, ann.aid, eve.aid]);
  });

  test('goes by target_aids as well, and by watch_aids where both are given', async () => {
    const [eve, bob] = [agent('Eve'), agent('Bob')];
    const subscribe = (fields: object) => events.call(eve, 'POST /presence/subscribe', fields);
    expect((await subscribe({ target_aids: [bob.aid] })).body.watching).toBe(1);
    expect((await subscribe({ watch_aids: [ann.aid, eve.aid], target_aids: [bob.aid] })).body.watching).toBe(2);
    expect((await watchesOf(eve))[0]?.watch_aids).toEqual([ann.aid, eve.aid]);
  });

  test('replaces the one before and keeps its id, however many come at once, and streams hear of each', async () => {
    const [eve, bob] = [agent('Eve'), agent('Bob')];
    const answers = await Promise.all([ann, bob, ann, bob].map((one) => presences.watch(eve, [one])));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.channel}`)).size).toBe(1);
    const { body } = await presences.watch(eve, [bob]);
    expect(body.channel).toBe(answers[0]?.body.channel);
    expect(await watchesOf(eve)).toMatchObject([{ watch_aids: [bob.aid] }]);
    const emitted = await events.context.database.prisma.$queryRaw`
      SELECT audience, payload FROM bus.outbox WHERE type = 'watch.changed' AND actor = ${eve.aid} ORDER BY id DESC`;
    expect(emitted).toHaveLength(5);
    expect(emitted).toMatchObject([{ audience: [], payload: { aid: eve.aid, watch_aids: [bob.aid] } }, {}, {}, {}, {}]);
  });

  test('that is refused leaves the one before as it was', async () => {
    const eve = agent('Eve');
    await presences.watch(eve, [ann]);
    await presences.watch(eve, [stranger]);
    expect(await watchesOf(eve)).toMatchObject([{ watch_aids: [ann.aid] }]);
  });

  test('of a later life is another one', async () => {
    const former = agent('Back');
    const back = { ...former, registeredAt: clock.now().getTime() };
    const first = await presences.watch(former, [ann]);
    const second = await presences.watch(back, [ann]);
    expect(second.body.channel).not.toBe(first.body.channel);
  });
});
