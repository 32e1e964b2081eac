import { anonymous } from '@acsp/testkit';
import { type Channels, channelsOf, codeOf, listed, newName } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';

let messaging: Messaging;
let channels: Channels;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];
const globalId = '00000000-0000-7000-8000-676c6f62616c';

beforeAll(async () => {
  messaging = await startMessaging();
  channels = channelsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

test('a channel is made with its creator as the first member, and listed', async () => {
  const made = await channels.create(ann, { name: 'made', channel_type: 'market', description: 'Goods' });
  const channel = {
    ...{ channel_id: expect.any(String), name: 'made', channel_type: 'market', description: 'Goods' },
    ...{ is_public: true, is_member: true, members: 1, created_by: ann.aid, created_at: expect.any(String) },
  };
  expect([made.status, made.body]).toEqual([201, { channel }]);
  const { channel_id } = made.body.channel;
  expect(listed(await channels.list(ann), channel_id)).toEqual({ ...channel });
  expect(listed(await channels.list(bob), channel_id)).toEqual({ ...channel, is_member: false });
});

test('what is left out of a new channel has its default', async () => {
  const { channel } = (await channels.create(ann)).body;
  expect(channel).toMatchObject({ channel_type: 'general', description: null, is_public: true });
});

test('global exists from the start, is nobody’s, stands first, and takes every agent', async () => {
  const [first] = (await channels.list(anonymous)).body.channels;
  expect(first).toMatchObject({ channel_id: globalId, name: 'global', channel_type: 'general', is_public: true });
  expect([first.created_by, first.is_member]).toEqual([null, null]);
  expect(codeOf(await channels.post(eve, globalId))).toBe('403 NOT_MEMBER');
  const joined = await messaging.call(eve, 'POST /channels/join', { channel_name: 'global' });
  expect(joined).toMatchObject({ status: 200, body: { joined: true, channel: { members: 1, is_member: true } } });
  expect(codeOf(await channels.post(eve, globalId))).toBe('201');
  expect(codeOf(await channels.create(ann, { name: 'global' }))).toBe('409 CHANNEL_EXISTS');
});

test('a name is taken once, and nothing is left of a refused creation', async () => {
  const name = newName();
  expect(codeOf(await channels.create(ann, { name }))).toBe('201');
  expect(codeOf(await channels.create(bob, { name }))).toBe('409 CHANNEL_EXISTS');
  const { prisma } = messaging.context.database;
  expect(await prisma.channel.count({ where: { name } })).toBe(1);
  expect(await prisma.channelMember.count({ where: { aid: bob.aid } })).toBe(0);
});

test('joining again is 200 and changes nothing', async () => {
  const id = await channels.made(ann);
  expect(await channels.join(bob, id)).toMatchObject({ status: 200, body: { joined: true, channel: { members: 2 } } });
  const again = await channels.join(bob, id);
  expect(again).toMatchObject({ status: 200, body: { joined: true, channel: { members: 2, is_member: true } } });
  expect(listed(await channels.list(bob), id)).toMatchObject({ is_member: true, members: 2 });
});

test('a channel that there is not is not found', async () => {
  const unknown = crypto.randomUUID();
  for (const answer of [
    channels.join(ann, unknown),
    messaging.call(ann, 'POST /channels/join', { channel_name: 'no-such' }),
    channels.post(ann, unknown),
    channels.broadcast(ann, unknown),
    channels.invite(ann, unknown, bob.aid),
    channels.messages(ann, 'no-such'),
  ])
    expect(codeOf(await answer)).toBe('404 CHANNEL_NOT_FOUND');
});

test('the id counts where a join names a channel twice', async () => {
  const id = await channels.made(ann);
  const joined = await messaging.call(bob, 'POST /channels/join', { channel_id: id, channel_name: 'no-such' });
  expect(joined.body.channel.channel_id).toBe(id);
});

describe('the list', () => {
  test('shows the membership of an agent that is only named, in public channels alone', async () => {
    const [open, hidden] = [await channels.made(ann), await channels.made(ann, { is_public: false })];
    for (const who of [anonymous, bob]) {
      const answer = await channels.list(who, `?aid=${ann.aid}`);
      expect(listed(answer, open)).toMatchObject({ is_member: true });
      expect(listed(answer, hidden)).toBeUndefined();
    }
    const own = await channels.list(ann, `?aid=${ann.aid}`);
    expect(listed(own, hidden)).toMatchObject({ is_member: true, is_public: false });
  });

  test('says nothing of membership where no agent is named', async () => {
    const open = await channels.made(ann);
    expect(listed(await channels.list(anonymous), open)).toMatchObject({ is_member: null });
  });

  test('has 200 channels at most: global, those of the agent, then the largest', async () => {
    const own = await channels.made(bob);
    const hidden = await channels.made(bob, { is_public: false });
    await messaging.context.database.prisma.$executeRaw`
      INSERT INTO channel (channel_id, name, members, created_at)
      SELECT gen_random_uuid(), 'large-' || n, 1000 + n, now() FROM generate_series(1, 300) AS n`;
    const { body } = await channels.list(bob);
    expect(body.channels).toHaveLength(200);
    const [first, ...others] = body.channels;
    expect(first.name).toBe('global');
    const firstStrange = others.findIndex(({ is_member }: { is_member: boolean }) => !is_member);
    expect(others.slice(0, firstStrange).map(({ channel_id }: { channel_id: string }) => channel_id)).toEqual(
      expect.arrayContaining([own, hidden]),
    );
    expect(others[firstStrange]).toMatchObject({ name: 'large-300', members: 1300 });
    expect(others.slice(firstStrange).some(({ is_member }: { is_member: boolean }) => is_member)).toBe(false);
  });
});

const notName = ['', 'Upper', 'with space', 'é', 'x'.repeat(65), 'a/b', 7, 'line\n'];

test.each(notName)('%j is no name of a channel', async (name) => {
  const refused = await channels.create(ann, { name });
  expect(codeOf(refused)).toBe('400 INVALID_NAME');
  expect(codeOf(await messaging.call(ann, 'POST /channels/join', { channel_name: name }))).toBe('400 INVALID_NAME');
  if (typeof name === 'string')
    expect(codeOf(await channels.messages(ann, encodeURIComponent(name)))).toBe('400 INVALID_NAME');
});

test('tells what a name may be', async () => {
  const { body } = await channels.create(ann, { name: 'A' });
  expect(body.errors).toEqual([{ field: 'name', message: 'must be 1 to 64 of a-z, 0-9, - and _' }]);
});

test.each([
  ['POST /channels', { name: undefined }, 'INVALID_NAME'],
  ['POST /channels', { name: 'ok-1', channel_type: 'party' }, 'INVALID_FIELD'],
  ['POST /channels', { name: 'ok-2', description: 'x'.repeat(501) }, 'INVALID_FIELD'],
  ['POST /channels', { name: 'ok-3', is_public: 'yes' }, 'INVALID_FIELD'],
  ['POST /channels', { name: 'ok-4', aid: 'x' }, 'INVALID_AID'],
  ['POST /channels/join', {}, 'MISSING_FIELDS'],
  ['POST /channels/join', { channel_id: 'x' }, 'INVALID_FIELD'],
  ['POST /channels/invite', { invitee_aid: bob.aid }, 'MISSING_FIELDS'],
  ['POST /channels/invite', { channel_id: 'x', invitee_aid: bob.aid }, 'INVALID_FIELD'],
  ['POST /channels/invite', { channel_id: globalId, invitee_aid: 'x' }, 'INVALID_AID'],
  ['POST /channels/invite', { channel_id: globalId }, 'INVALID_AID'],
  ['POST /channels/messages', { body: 'x' }, 'MISSING_FIELDS'],
  ['POST /channels/messages', { channel_id: 'x', body: 'x' }, 'INVALID_FIELD'],
  ['POST /channels/messages', { channel_id: globalId }, 'MISSING_CONTENT'],
  ['POST /channels/messages', { channel_id: globalId, body: ' \n' }, 'MISSING_CONTENT'],
  ['POST /channels/messages', { channel_id: globalId, body: 7 }, 'INVALID_CONTENT'],
  ['POST /channels/messages', { channel_id: globalId, body: 'a\0' }, 'INVALID_CONTENT'],
  ['POST /channels/messages', { channel_id: globalId, body: 'x'.repeat(4097) }, 'INVALID_CONTENT'],
  ['POST /message/broadcast', { content: 'x' }, 'MISSING_FIELDS'],
  ['POST /message/broadcast', { channel_id: globalId }, 'MISSING_CONTENT'],
  ['POST /message/broadcast', { channel_id: globalId, content: 'x'.repeat(2049) }, 'INVALID_CONTENT'],
  ['POST /message/broadcast', { channel_id: globalId, content: 'x', msg_type: 'match' }, 'INVALID_FIELD'],
  ['POST /message/broadcast', { channel_id: globalId, content: 'x', metadata: [] }, 'INVALID_METADATA'],
  ['GET /channels?aid=x', undefined, 'INVALID_AID'],
  ['GET /channels/messages', undefined, 'INVALID_NAME'],
  ['GET /channels/messages?channel_name=global&limit=0', undefined, 'INVALID_FIELD'],
  ['GET /channels/messages?channel_name=global&limit=101', undefined, 'INVALID_FIELD'],
  ['GET /channels/messages?channel_name=global&before=x', undefined, 'INVALID_FIELD'],
])('%s with %j is refused: %s', async (request, body, code) => {
  expect(codeOf(await messaging.call(ann, request, body))).toBe(`400 ${code}`);
});

const writing = ['/channels', '/channels/join', '/channels/invite', '/channels/messages', '/message/broadcast'];

test.each(writing)('%s needs a credential, and the aid of its own caller', async (path) => {
  expect(codeOf(await messaging.call(anonymous, `POST ${path}`, {}))).toBe('401 AUTH_REQUIRED');
  const fields = { name: newName(), channel_id: globalId, invitee_aid: eve.aid, body: 'x', content: 'x' };
  const refused = await messaging.call(ann, `POST ${path}`, { ...fields, aid: bob.aid });
  expect(codeOf(refused)).toBe('403 AID_MISMATCH');
});
