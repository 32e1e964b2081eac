import type { Agent } from '@acsp/operation';
import { type Channels, channelsOf, newName } from './channels.js';
import { type Answer, agent, type Messaging, startMessaging } from './harness.js';

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

interface Request {
  readonly who: Agent;
  readonly path: string;
  readonly body: object;
}

let keys = 0;
const newKey = () => {
  keys += 1;
  return { key: `key ${keys}`, print: `print ${keys}` };
};
const send = ({ who, path, body }: Request, idempotency: ReturnType<typeof newKey>, at = messaging) =>
  at.call({ ...who, idempotency }, `POST ${path}`, body);

const shared = () => channels.made(ann, { members: [bob] });
const reserved = () => channels.made(ann, { members: [bob], channel_type: 'announce' });

/** A request of each operation that succeeds once, and one that is refused. */
const operations: Record<string, readonly [() => Promise<Request>, () => Promise<Request>]> = {
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
const names = Object.keys(operations);
const requestOf = (name: string, which: 0 | 1) => (operations[name] as (typeof operations)[string])[which]();

/** Rows of every table that an operation writes. */
async function countRows(): Promise<object> {
  const [counts] = await messaging.context.database.prisma.$queryRaw<object[]>`
    SELECT (SELECT count(*)::int FROM channel) AS channels, (SELECT sum(members)::int FROM channel) AS counted,
      (SELECT count(*)::int FROM channel_member) AS members, (SELECT count(*)::int FROM channel_invitation) AS invitations,
      (SELECT count(*)::int FROM channel_message) AS posts, (SELECT sum(last_position)::int FROM channel) AS positions,
      (SELECT count(*)::int FROM message) AS messages, (SELECT sum(unread)::int FROM mailbox) AS unread,
      (SELECT count(*)::int FROM bus.outbox) AS events`;
  return counts as object;
}
const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

test.each(names)('%s is done once and answered alike, however often and wherever it is repeated', async (name) => {
  const request = await requestOf(name, 0);
  const [before, idempotency] = [await countRows(), newKey()];
  const first = await send(request, idempotency);
  expect([200, 201]).toContain(first.status);
  expect(isReplayed(first)).toBe(false);
  const after = await countRows();
  expect(after).not.toEqual(before);
  for (const at of [messaging, other]) {
    const again = await send(request, idempotency, at);
    expect([again.status, again.body, isReplayed(again)]).toEqual([first.status, first.body, true]);
  }
  expect(await countRows()).toEqual(after);
});

test.each(names)('%s that comes in twice at once, in two services, is done once and answered alike', async (name) => {
  for (let round = 0; round < 3; round += 1) {
    const [alone, request] = [await requestOf(name, 0), await requestOf(name, 0)];
    const start = (await countRows()) as Record<string, number>;
    await send(alone, newKey());
    const once = (await countRows()) as Record<string, number>;
    const idempotency = newKey();
    const replicas = [messaging, other, messaging, other];
    const answers = await Promise.all(replicas.map((at) => send(request, idempotency, at)));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect([200, 201]).toContain(answers[0]?.status);
    // As much again as one request has written.
    const twice = Object.entries(once).map(([table, count]) => [table, 2 * count - (start[table] ?? 0)]);
    expect(await countRows()).toEqual(Object.fromEntries(twice));
  }
});

test.each(names)('%s that is refused stays refused, in two services at once too', async (name) => {
  const request = await requestOf(name, 1);
  const [before, idempotency] = [await countRows(), newKey()];
  const answers = await Promise.all([messaging, other].map((at) => send(request, idempotency, at)));
  expect(answers[0]?.status).toBeGreaterThanOrEqual(400);
  expect(answers[1]?.body).toEqual(answers[0]?.body);
  const again = await send(request, idempotency);
  expect([again.status, again.body, isReplayed(again)]).toEqual([answers[0]?.status, answers[0]?.body, true]);
  expect(await countRows()).toEqual(before);
});

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
