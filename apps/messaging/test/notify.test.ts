import { MessagingService } from '@acsp/contracts/messaging/v1/messaging';
import { createPeer } from '@acsp/service';
import { agent, type Messaging, startMessaging } from './harness.js';
import { lettersOf, miscounted } from './letters.js';

let messaging: Messaging;
const bob = agent('Bob');

beforeAll(async () => {
  messaging = await startMessaging();
});
afterAll(() => messaging[Symbol.asyncDispose]());

const peer = () =>
  createPeer(MessagingService, { address: messaging.address, principals: messaging.principals, name: 'search' });
const match = {
  to_aid: bob.aid,
  from_aid: agent('Ann').aid,
  from_name: 'Ann',
  msg_type: 'match',
  content: 'Looks for stones',
};

test('a service puts a notice into an inbox, once for a key', async () => {
  using service = peer();
  const notices = await Promise.all(
    Array.from({ length: 5 }, () => service.notify({ ...match, key: 'search 1', match_score: 0.75, metadata: {} })),
  );
  expect(new Set(notices.map(({ message_id }) => message_id)).size).toBe(1);
  const { messages, unread_count } = await lettersOf(messaging).inbox(bob);
  expect(messages).toMatchObject([
    { id: notices[0]?.message_id, msg_type: 'match', match_score: 0.75, from_name: 'Ann' },
  ]);
  expect(unread_count).toBe(1);
  const events = await messaging.context.database.prisma.$queryRaw`SELECT type, audience FROM bus.outbox`;
  expect(events).toEqual([{ type: 'notice.delivered', audience: [`agent:${bob.aid}`] }]);
  expect(await miscounted(messaging)).toEqual([]);
});

test('a notice of the service itself is from nobody', async () => {
  using service = peer();
  const { from_aid: _none, ...system } = { ...match, from_name: 'acsp', msg_type: 'system', key: 'system 1' };
  await service.notify({ ...system, metadata: {} });
  expect((await lettersOf(messaging).inbox(bob, '&limit=1')).messages).toMatchObject([
    { from_aid: null, from_name: 'acsp', match_score: null },
  ]);
});

test('agents cannot call it', async () => {
  using service = peer();
  const caller = { ...bob, rpc: 'acsp.messaging.v1.MessagingService/Notify' };
  await expect(service.notify({ ...match, key: 'x', metadata: {} }, { caller })).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
  });
});
