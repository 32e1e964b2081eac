import { MessagingService } from '@acsp/contracts/messaging/v1/messaging';
import type { Agent } from '@acsp/operation';
import { createPeer, type Peer } from '@acsp/service';
import { metric } from '@acsp/testkit';
import { type Channels, channelsOf, newName } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';

let messaging: Messaging;
let channels: Channels;
let service: Peer<typeof MessagingService>;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  messaging = await startMessaging();
  channels = channelsOf(messaging);
  service = createPeer(MessagingService, {
    ...{ address: messaging.address, principals: messaging.principals },
    name: 'events',
  });
});
afterAll(async () => {
  service[Symbol.dispose]();
  await messaging[Symbol.asyncDispose]();
});

const lifeOf = ({ aid, registeredAt = 0 }: Agent) => ({ aid, registered_at: new Date(registeredAt) });
const find = async (who: Agent, names: string[] = []) =>
  (await service.findChannels({ ...lifeOf(who), names })).channels;
const namesOf = async (...question: Parameters<typeof find>) => (await find(...question)).map(({ name }) => name);

/** A public channel and a private one of Ann's, with Bob. */
async function made() {
  const [open, hidden] = [newName(), newName()];
  const id = await channels.made(ann, { name: open, members: [bob] });
  await channels.made(ann, { name: hidden, is_public: false, members: [bob] });
  return { open, hidden, id };
}

test('members find public and private channels by name, in the order of the question', async () => {
  const { open, hidden, id } = await made();
  const found = await find(bob, [hidden, open]);
  expect(found).toMatchObject([
    { name: hidden, is_public: false, is_member: true },
    { channel_id: id, name: open, is_public: true, is_member: true },
  ]);
});

test('a stranger finds the public one only, even when it is invited to the other', async () => {
  const { open, hidden } = await made();
  const invited = newName();
  await channels.invite(ann, await channels.made(ann, { name: invited, is_public: false }), eve.aid);
  expect(await find(eve, [hidden, invited, open])).toMatchObject([{ name: open, is_public: true, is_member: false }]);
});

test('a new life of a member does not read what the former one did', async () => {
  const { open, hidden } = await made();
  const back = { ...bob, registeredAt: Date.now() };
  expect(await find(back, [hidden, open])).toMatchObject([{ name: open, is_member: false }]);
  expect(await find(back)).toEqual([]);
});

test('names that are unknown, or that no channel can have, are left out, and a repeated one counts once', async () => {
  const { open } = await made();
  const odd = ['', 'Upper', 'presence:1', 'nul\0', 'x'.repeat(65), 'nowhere', open.toUpperCase()];
  expect(await namesOf(ann, [open, ...odd, open, 'global'])).toEqual([open, 'global']);
});

test('without names, an agent finds what it is a member of, the newest 100 of them', async () => {
  const joiner = agent('Joiner');
  const { open, hidden } = await made();
  expect(await find(joiner)).toEqual([]);
  await messaging.context.database.prisma.$executeRaw`
    WITH made AS (
      INSERT INTO channel (channel_id, name, members, is_public, created_at)
      SELECT lpad(n::text, 32, '0')::uuid, 'old-' || n, 1, n % 2 = 0, now() FROM generate_series(1, 150) AS n
      RETURNING channel_id
    )
    INSERT INTO channel_member (aid, channel_id, since)
    SELECT ${joiner.aid}, channel_id, ${lifeOf(joiner).registered_at}::timestamptz FROM made`;
  await channels.join(joiner, (await find(ann, [open]))[0]?.channel_id ?? '');
  const found = await find(joiner);
  expect(found.map(({ name }) => name)).toEqual([open, ...Array.from({ length: 99 }, (_, n) => `old-${150 - n}`)]);
  expect(found.every(({ is_member }) => is_member)).toBe(true);
  expect(await namesOf(joiner, [hidden])).toEqual([]);
});

test('50 names are looked up, and 51 are refused', async () => {
  const { open } = await made();
  const names = (count: number) => [...Array.from({ length: count - 1 }, (_, n) => `none-${n}`), open];
  expect(await namesOf(eve, names(50))).toEqual([open]);
  await expect(find(eve, names(51))).rejects.toMatchObject({ code: 'INVALID_FIELD' });
});

test('questions that wait at the same time share statements', async () => {
  const { open, hidden } = await made();
  const runs = async () => (await metric('acsp_batch_seconds_count{statement="read channel"}')) ?? 0;
  const before = await runs();
  const answers = await Promise.all(Array.from({ length: 100 }, () => find(bob, [open, hidden])));
  expect(answers.every(({ length }) => length === 2)).toBe(true);
  expect((await runs()) - before).toBeLessThan(answers.length);
});

test('agents cannot call it', async () => {
  const caller = { ...bob, rpc: 'acsp.messaging.v1.MessagingService/FindChannels' };
  await expect(service.findChannels({ ...lifeOf(bob), names: [] }, { caller })).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
  });
});
