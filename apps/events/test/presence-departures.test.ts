import { type Agent, lifeOf } from '@acsp/operation';
import { deletionOf, eventually, type TestClock, testClock, withHalfMinuteJob } from '@acsp/testkit';
import { memberOf } from '../src/presence/records.js';
import { agent, type Events, startEvents } from './harness.js';
import { presencesOf } from './presences.js';

let events: Events;
let clock: TestClock;
let presences: ReturnType<typeof presencesOf>;
const ann = agent('Ann');
/** Agents that were deleted and have registered again. */
const registered = new Map<string, number>();

beforeAll(async () => {
  clock = testClock();
  events = await startEvents({ clock, registered });
  presences = presencesOf(events);
});
afterAll(() => events[Symbol.asyncDispose]());

const remove = (former: Agent) => events.running.departures.onDeleted(deletionOf(former, clock.now()));
const sweep = () => events.running.departures.sweep();
const watchesOf = ({ aid }: Agent) => events.context.database.prisma.presenceWatch.count({ where: { aid } });
const seenOf = async (one: Agent) => {
  const { status, last_seen } = (await presences.get(ann, one)).body;
  return { status, last_seen };
};
const neverSeen = { status: 'offline', last_seen: null };

/** Two lives of one agent. Identity knows the second once it is back. */
function twoLives(): [former: Agent, back: Agent] {
  const former = agent('Gone');
  clock.advance(1);
  return [former, { ...former, registeredAt: clock.now().getTime() }];
}
const returns = ({ aid, registeredAt = 0 }: Agent) => registered.set(aid, registeredAt);

test('a deleted agent was never seen, is offline to its watchers, and watches nobody', async () => {
  const [gone] = twoLives();
  await presences.beat(gone);
  await presences.watch(gone, [ann]);
  await remove(gone);
  expect(await seenOf(gone)).toEqual(neverSeen);
  expect(await presences.announced(gone.aid)).toEqual(['online', 'offline']);
  expect(await watchesOf(gone)).toBe(0);
});

test('the service hears of a deletion by itself', async () => {
  const [gone] = twoLives();
  await presences.beat(gone);
  // Events from before the consumer's first start are none of its business: announce until one is seen.
  await eventually(async () => {
    await events.bus.publish('identity', [deletionOf(gone)]);
    return (await seenOf(gone)).last_seen === null;
  });
});

test('a deletion leaves what the next life has done, and its watchers hear nothing of it', async () => {
  const [former, back] = twoLives();
  await presences.beat(former);
  await presences.watch(former, [ann]);
  returns(back);
  await presences.beat(back);
  await presences.watch(back, [ann]);
  await remove(former);
  await sweep();
  expect(await seenOf(back)).toEqual({ status: 'online', last_seen: clock.now().toISOString() });
  expect(await presences.announced(back.aid)).toEqual(['online']);
  expect(await watchesOf(back)).toBe(1);
});

test('a former life that goes stale says nothing of the present one', async () => {
  const [former, back] = twoLives();
  await presences.beat(former);
  returns(back);
  clock.advance(150_000);
  await presences.beat(back);
  clock.advance(1);
  await events.context.store.schedule('stale', memberOf(lifeOf(former)), 0);
  await presences.sweep();
  expect(await events.context.store.due('stale', 1000)).not.toContain(memberOf(lifeOf(former)));
  expect(await presences.announced(back.aid)).toEqual(['online']);
});

test('a heartbeat and a subscription that commit behind the deletion are cleared away by the next sweep', async () => {
  const [former] = twoLives();
  await remove(former);
  await presences.beat(former);
  await presences.watch(former, [ann]);
  await sweep();
  expect(await seenOf(former)).toEqual(neverSeen);
  expect(await presences.announced(former.aid)).toEqual(['online', 'offline']);
  expect(await watchesOf(former)).toBe(0);
});

test('a repeated deletion leaves no trace', async () => {
  const [gone] = twoLives();
  await presences.beat(gone);
  await remove(gone);
  await remove(gone);
  await sweep();
  expect(await presences.announced(gone.aid)).toEqual(['online', 'offline']);
});

test('the service sweeps stale agents by itself', async () => {
  const ownClock = testClock();
  const [started, runJob] = await withHalfMinuteJob(() => startEvents({ clock: ownClock, sweeps: true }));
  await using service = started;
  const [own, bob] = [presencesOf(service), agent('Bob')];
  await own.beat(bob);
  ownClock.advance(150_001);
  await service.context.store.schedule('stale', memberOf(lifeOf(bob)), 0);
  runJob();
  await eventually(async () => (await own.announced(bob.aid)).at(-1) === 'offline');
});
