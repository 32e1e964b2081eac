import { decideAnnouncement, goodForSeconds, heartbeatSeconds, type Status, statusAt, statuses } from './rules.js';

const now = new Date('2026-01-01T00:00:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);

test.each(statuses)('an agent is %s for 150 seconds after it said so, and offline from then on', (status) => {
  const at = (ms: number) => statusAt(now, { status, last_seen: ago(ms) });
  expect([at(0), at(150_000), at(150_001)]).toEqual([status, status, 'offline']);
});

test('one heartbeat that is lost does not make an agent flap, even when the next is 30 seconds late', () => {
  expect(goodForSeconds).toBeGreaterThanOrEqual(2 * heartbeatSeconds + 30);
});

test('an agent that was seen by a replica whose clock is ahead is not stale', () => {
  expect(statusAt(now, { status: 'busy', last_seen: ago(-5_000) })).toBe('busy');
});

test('an agent that was never seen is offline', () => expect(statusAt(now, undefined)).toBe('offline'));

const [former, present] = [ago(1_000), now];
const said = (status: Status, since = present) => ({ status, since });

test.each([
  ['the first status of an agent is announced', said('away'), undefined, 'announce'],
  ['that it is offline is no news of an agent that nobody was told of', said('offline'), undefined, 'nothing'],
  ['a change is announced', said('busy'), said('online'), 'announce'],
  ['the same again is not', said('busy'), said('busy'), 'nothing'],
  ['a new life takes the same status over in silence', said('busy'), said('busy', former), 'note'],
  ['and announces another one', said('busy'), said('online', former), 'announce'],
  ['a former life says nothing once a later one is announced', said('offline', former), said('online'), 'nothing'],
] as const)('%s', (_, status, before, expected) => expect(decideAnnouncement(status, before)).toBe(expected));
