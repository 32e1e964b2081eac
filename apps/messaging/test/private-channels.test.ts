import { anonymous } from '@acsp/testkit';
import { type Channels, channelsOf, codeOf, listed, newName } from './channels.js';
import { agent, type Messaging, startMessaging, stranger } from './harness.js';

let messaging: Messaging;
let channels: Channels;
const [ann, bob, eve] = [agent('Ann'), agent('<b title="x">Bob</b>'), agent('Eve')];

beforeAll(async () => {
  messaging = await startMessaging();
  channels = channelsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

async function hidden(fields: object = {}) {
  const name = newName();
  return { name, id: await channels.made(ann, { name, is_public: false, ...fields }) };
}
const inboxOf = async (who: typeof ann) => (await messaging.call(who, 'GET /inbox')).body;

test('a private channel does not exist for a stranger', async () => {
  const { id, name } = await hidden();
  for (const answer of [
    channels.join(eve, id),
    messaging.call(eve, 'POST /channels/join', { channel_name: name }),
    channels.post(eve, id),
    channels.broadcast(eve, id),
    channels.invite(eve, id, bob.aid),
    channels.messages(eve, name),
    channels.messages(anonymous, name),
  ])
    expect(codeOf(await answer)).toBe('404 CHANNEL_NOT_FOUND');
  for (const who of [eve, anonymous]) expect(listed(await channels.list(who), id)).toBeUndefined();
  expect(codeOf(await channels.create(eve, { name }))).toBe('409 CHANNEL_EXISTS');
});

test('its members list it, read it and post to it', async () => {
  const { id, name } = await hidden({ members: [eve] });
  expect(codeOf(await channels.post(eve, id))).toBe('201');
  expect((await channels.messages(ann, name)).body.messages).toMatchObject([{ body: 'Hello', from_name: 'Eve' }]);
  expect(listed(await channels.list(eve), id)).toMatchObject({ is_member: true, members: 2, is_public: false });
});

test('an invitation lets in the agent that it names, and nobody else', async () => {
  const { id, name } = await hidden();
  expect(await channels.invite(ann, id, eve.aid)).toMatchObject({
    status: 201,
    body: { invited: true, channel_id: id, invitee_aid: eve.aid },
  });
  expect(codeOf(await channels.messages(eve, name))).toBe('404 CHANNEL_NOT_FOUND');
  expect(codeOf(await channels.join(bob, id))).toBe('404 CHANNEL_NOT_FOUND');
  expect(codeOf(await channels.join(eve, id))).toBe('200');
  expect(codeOf(await channels.messages(eve, name))).toBe('200');
});

test('an invitation reaches the inbox as a notice of the service, in which the name is cleaned', async () => {
  const zoe = agent('Zoe');
  const { id, name } = await hidden({ members: [bob] });
  await channels.invite(bob, id, zoe.aid);
  const { messages, total, unread_count } = await inboxOf(zoe);
  expect([total, unread_count]).toEqual([1, 1]);
  expect(messages).toMatchObject([
    {
      ...{ from_aid: null, from_name: 'acsp', msg_type: 'system', metadata: { channel_id: id }, read: false },
      content: `Bob invited you to the channel ${name}`,
    },
  ]);
  const events = await messaging.context.database.prisma.$queryRaw`
    SELECT type, audience, actor FROM bus.outbox WHERE ${`agent:${zoe.aid}`} = ANY (audience) ORDER BY position`;
  expect(events).toEqual([
    { type: 'channel.invited', audience: [`agent:${zoe.aid}`], actor: bob.aid },
    { type: 'notice.delivered', audience: [`agent:${zoe.aid}`], actor: null },
  ]);
});

test('a notice finds its place behind the messages of a faster clock', async () => {
  const zoe = agent('Zoe');
  const { id } = await hidden();
  await messaging.call(ann, 'POST /message/send', { target_aid: zoe.aid, content: 'First' });
  const later = new Date(Date.now() + 3_600_000);
  await messaging.context.database.prisma.mailbox.update({ where: { aid: zoe.aid }, data: { last_at: later } });
  await channels.invite(ann, id, zoe.aid);
  const { messages, total, unread_count } = await inboxOf(zoe);
  expect([total, unread_count]).toEqual([2, 2]);
  expect(messages[0]).toMatchObject({ msg_type: 'system', created_at: later.toISOString() });
});

test('a second invitation changes nothing, by whomever, before and after the join', async () => {
  const zoe = agent('Zoe');
  const { id } = await hidden({ members: [bob] });
  const first = await channels.invite(ann, id, zoe.aid);
  const again = [await channels.invite(ann, id, zoe.aid), await channels.invite(bob, id, zoe.aid)];
  await channels.join(zoe, id);
  again.push(await channels.invite(ann, id, zoe.aid));
  for (const { status, body } of again) expect([status, body]).toEqual([first.status, first.body]);
  expect((await inboxOf(zoe)).total).toBe(1);
});

test('a member is not invited, and neither is the inviter itself', async () => {
  const zoe = agent('Zoe');
  const id = await channels.made(ann, { members: [zoe] });
  for (const who of [zoe, ann]) expect(codeOf(await channels.invite(ann, id, who.aid))).toBe('201');
  expect((await inboxOf(zoe)).total).toBe(0);
  expect(await messaging.context.database.prisma.channelInvitation.count({ where: { channel_id: id } })).toBe(0);
});

test('only members invite, and only active agents are invited', async () => {
  const id = await channels.made(ann);
  expect(codeOf(await channels.invite(bob, id, eve.aid))).toBe('403 NOT_MEMBER');
  expect(codeOf(await channels.invite(ann, id, stranger.aid))).toBe('404 TARGET_NOT_FOUND');
});
