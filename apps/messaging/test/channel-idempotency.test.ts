import { newKey, type PostRequest, sendUnder, testRepeated } from '@acsp/testkit';
import { type Channels, channelsOf, newName } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';

// Each POST on channels under an Idempotency-Key, as the gateway hands it on: a digest of caller and key, and one of the request.

let messaging: Messaging;
let other: Messaging;
let channels: Channels;
const [ann, bob] = [agent('Ann'), agent('Bob')];

beforeAll(async () => {
  messaging = await startMessaging();
  other = await startMessaging({ databaseUrl: messaging.databaseUrl });
  channels = channelsOf(messaging);
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await messaging[Symbol.asyncDispose]();
});

const send = (request: PostRequest, idempotency: ReturnType<typeof newKey>, at = messaging) =>
  sendUnder(at, request, idempotency);

const shared = () => channels.made(ann, { members: [bob] });
const reserved = () => channels.made(ann, { members: [bob], channel_type: 'announce' });

/** A request of each operation that succeeds once, and one that is refused. */
const operations: Record<string, readonly [() => Promise<PostRequest>, () => Promise<PostRequest>]> = {
  create: [
    async () => ({ who: ann, path: '/channels', body: { name: newName() } }),
    async () => ({ who: ann, path: '/channels', body: { name: 'global' } }),
  ],
  join: [
    async () => ({ who: bob, path: '/channels/join', body: { channel_id: await channels.made(ann) } }),
    async () => ({ who: bob, path: '/channels/join', body: { channel_name: 'no-such' } }),
  ],
  invite: [
    async () => ({
      ...{ who: bob, path: '/channels/invite' },
      body: { channel_id: await shared(), invitee_aid: agent('New').aid },
    }),
    async () => ({
      ...{ who: bob, path: '/channels/invite' },
      body: { channel_id: await channels.made(ann), invitee_aid: agent('New').aid },
    }),
  ],
  post: [
    async () => ({ who: bob, path: '/channels/messages', body: { channel_id: await shared(), body: 'Hello' } }),
    async () => ({ who: bob, path: '/channels/messages', body: { channel_id: await reserved(), body: 'Hello' } }),
  ],
  broadcast: [
    async () => ({ who: bob, path: '/message/broadcast', body: { channel_id: await shared(), content: 'Hello' } }),
    async () => ({ who: bob, path: '/message/broadcast', body: { channel_id: await reserved(), content: 'Hello' } }),
  ],
};

/** Rows of every table that an operation writes. */
async function countRows(): Promise<Record<string, number>> {
  const [counts] = await messaging.context.database.prisma.$queryRaw<Record<string, number>[]>`
    SELECT (SELECT count(*)::int FROM channel) AS channels, (SELECT sum(members)::int FROM channel) AS counted,
      (SELECT count(*)::int FROM channel_member) AS members, (SELECT count(*)::int FROM channel_invitation) AS invitations,
      (SELECT count(*)::int FROM channel_message) AS posts, (SELECT sum(last_position)::int FROM channel) AS positions,
      (SELECT count(*)::int FROM message) AS messages, (SELECT sum(unread)::int FROM mailbox) AS unread,
      (SELECT count(*)::int FROM bus.outbox) AS events`;
  return counts as Record<string, number>;
}

testRepeated({ replicas: () => [messaging, other], operations, countRows });

test('posts that repeat a key in one statement are refused alone, and their neighbours are written', async () => {
  const id = await shared();
  const [idempotency, body] = [newKey(), { channel_id: id, body: 'Once' }];
  const posts = Array.from({ length: 20 }, (_, n) => [
    send({ who: bob, path: '/channels/messages', body }, idempotency),
    channels.post(ann, id, `Post ${n}`),
  ]);
  const answers = await Promise.all(posts.flat());
  expect(answers.every(({ status }) => status === 201)).toBe(true);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(21);
  const { prisma } = messaging.context.database;
  expect(await prisma.channelMessage.count({ where: { channel_id: id } })).toBe(21);
});
