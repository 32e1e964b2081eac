import type { Agent } from '@acsp/operation';
import { deletionOf, eventually, type TestClock, testClock } from '@acsp/testkit';
import { type Channels, channelsOf, codeOf, listed, newName } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';
import { expectTrueChannels } from './true-channels.js';

let messaging: Messaging;
let channels: Channels;
let clock: TestClock;
const [ann, bob] = [agent('Ann'), agent('Bob')];
/** Agents that were deleted and have registered again. */
const registered = new Map<string, number>();

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock, registered });
  channels = channelsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());
afterEach(() => expectTrueChannels(messaging));

/** Two lives of one agent. Identity knows the second. */
function twoLives(): [former: Agent, back: Agent] {
  const former = agent('Gone');
  const back = { ...former, registeredAt: clock.now().getTime() };
  return [former, back];
}
const returns = ({ aid, registeredAt = 0 }: Agent) => registered.set(aid, registeredAt);
const remove = (former: Agent) => messaging.running.departures.onDeleted(deletionOf(former, clock.now()));
const sweep = () => messaging.running.departures.sweep();
const membersOf = async (id: string) => listed(await channels.list(ann), id).members;
const departuresOf = async ({ aid }: Agent) =>
  (await messaging.context.database.pool.query('SELECT FROM bus.departure WHERE aid = $1', [aid])).rowCount;

test('a deleted agent is a member of nothing, its messages stay, and each channel is told', async () => {
  const [gone] = twoLives();
  const name = newName();
  const ids = [await channels.made(ann, { name, members: [gone, bob] }), await channels.made(gone, { members: [ann] })];
  await channels.post(gone, ids[0] as string, 'I was here');
  await remove(gone);
  expect(await Promise.all(ids.map(membersOf))).toEqual([2, 1]);
  expect((await channels.messages(ann, name)).body.messages).toMatchObject([{ body: 'I was here', from_name: 'Gone' }]);
  expect(codeOf(await channels.post(gone, ids[0] as string))).toBe('403 NOT_MEMBER');
  const left = await messaging.context.database.prisma.$queryRaw`
    SELECT audience, actor FROM bus.outbox WHERE type = 'channel.left' AND payload->>'aid' = ${gone.aid}`;
  expect(left).toHaveLength(2);
  expect(left).toEqual(expect.arrayContaining(ids.map((id) => ({ audience: [`channel:${id}`], actor: null }))));
});

test('the service hears of a deletion by itself', async () => {
  const [gone] = twoLives();
  const id = await channels.made(ann, { members: [gone] });
  // Events from before the consumer's first start are none of its business: announce until one is seen.
  await eventually(async () => {
    await messaging.bus.publish('identity', [deletionOf(gone)]);
    return (await membersOf(id)) === 1;
  });
});

test('any number of memberships ends', async () => {
  const [gone] = twoLives();
  const { prisma } = messaging.context.database;
  await prisma.$executeRaw`
    WITH made AS (
      INSERT INTO channel (channel_id, name, members, created_at)
      SELECT gen_random_uuid(), 'many-' || n, 1, now() FROM generate_series(1, 450) AS n RETURNING channel_id
    ),
    told AS (
      INSERT INTO bus.outbox (id, type, audience, payload)
      SELECT gen_random_uuid(), 'channel.joined', '{}', jsonb_build_object('channel_id', channel_id) FROM made
    )
    INSERT INTO channel_member (aid, channel_id, since) SELECT ${gone.aid}, channel_id, ${new Date(gone.registeredAt ?? 0)}::timestamptz FROM made`;
  await remove(gone);
  expect(await prisma.channelMember.count({ where: { aid: gone.aid } })).toBe(0);
});

describe('an old deletion does not touch the new life of its agent', () => {
  test('neither its memberships nor its invitations', async () => {
    const [former, back] = twoLives();
    const open = await channels.made(ann, { members: [former] });
    const hidden = await channels.made(ann, { is_public: false });
    returns(back);
    await channels.join(back, open);
    await channels.invite(ann, hidden, back.aid);
    await remove(former);
    await sweep();
    expect(await membersOf(open)).toBe(2);
    expect(codeOf(await channels.post(back, open))).toBe('201');
    expect(codeOf(await channels.join(back, hidden))).toBe('200');
  });

  test('and the deletion of the new life ends both', async () => {
    const [former, back] = twoLives();
    const open = await channels.made(ann, { members: [former] });
    await channels.join(back, open);
    await remove(back);
    expect(await membersOf(open)).toBe(1);
  });
});

test('the new life inherits nothing of the former one, although its deletion is not carried out yet', async () => {
  const [former, back] = twoLives();
  const open = await channels.made(ann, { members: [former] });
  const hidden = { name: newName(), id: '' };
  hidden.id = await channels.made(ann, { name: hidden.name, is_public: false, members: [former] });
  const invited = await channels.made(ann, { is_public: false });
  await channels.invite(ann, invited, former.aid);
  expect(codeOf(await channels.post(back, open))).toBe('403 NOT_MEMBER');
  expect(codeOf(await channels.messages(back, hidden.name))).toBe('404 CHANNEL_NOT_FOUND');
  expect(codeOf(await channels.join(back, invited))).toBe('404 CHANNEL_NOT_FOUND');
  const list = await channels.list(back);
  expect([listed(list, open).is_member, listed(list, hidden.id)]).toEqual([false, undefined]);
  await remove(former);
  expect(codeOf(await channels.join(former, invited))).toBe('404 CHANNEL_NOT_FOUND');
});

describe('what commits behind the deletion', () => {
  test('is cleared away by the next sweep, and nothing of the new life', async () => {
    const [former, back] = twoLives();
    await remove(former);
    const open = await channels.made(ann);
    const late = await channels.made(former, { members: [ann] });
    const hidden = await channels.made(ann, { is_public: false });
    await channels.join(former, open);
    await channels.invite(ann, hidden, former.aid);
    await channels.join(back, open);
    await sweep();
    expect(await Promise.all([open, late].map(membersOf))).toEqual([2, 1]);
    expect(codeOf(await channels.join(former, hidden))).toBe('404 CHANNEL_NOT_FOUND');
    expect(codeOf(await channels.post(back, open))).toBe('201');
  });

  test('is looked for during 80 seconds, and not after', async () => {
    const [former] = twoLives();
    await remove(former);
    const id = await channels.made(ann);
    clock.advance(79_999);
    await channels.join(former, id);
    await sweep();
    expect([await membersOf(id), await departuresOf(former)]).toEqual([1, 1]);
    clock.advance(1);
    await channels.join(former, id);
    await sweep();
    expect([await membersOf(id), await departuresOf(former)]).toEqual([1, 0]);
  });
});

test('the service sweeps by itself', async () => {
  await using other = await startMessaging({ sweeps: true });
  const { create, join, list } = channelsOf(other);
  const gone = agent('Gone');
  const { channel_id } = (await create(ann)).body.channel;
  await other.running.departures.onDeleted(deletionOf(gone));
  await join(gone, channel_id);
  await eventually(async () => listed(await list(ann), channel_id).members === 1, { timeoutMs: 15_000 });
}, 20_000);

test('a repeated deletion leaves no trace', async () => {
  const [gone] = twoLives();
  await channels.made(ann, { members: [gone] });
  const { prisma } = messaging.context.database;
  await remove(gone);
  const count = () => prisma.$queryRaw`SELECT count(*) FROM bus.outbox`;
  const before = await count();
  await remove(gone);
  await sweep();
  expect(await count()).toEqual(before);
});
