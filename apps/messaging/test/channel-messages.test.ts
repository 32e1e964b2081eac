import { anonymous, type TestClock, testClock } from '@acsp/testkit';
import { type Channels, channelsOf, codeOf, newName } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';

let messaging: Messaging;
let channels: Channels;
let clock: TestClock;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock });
  channels = channelsOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

const bodiesOf = (messages: { body: string }[]) => messages.map(({ body }) => body);
const eventsOf = (channel_id: string) =>
  messaging.context.database.prisma.$queryRaw<
    { type: string; audience: string[]; actor: string; payload: Record<string, unknown>; occurred_at: Date }[]
  >`SELECT type, audience, actor, payload, occurred_at FROM bus.outbox WHERE payload->>'channel_id' = ${channel_id} ORDER BY position`;

async function filled(count: number) {
  const name = newName();
  const id = await channels.made(ann, { name, members: [bob] });
  for (let n = 1; n <= count; n += 1) await channels.post(n % 2 ? ann : bob, id, `Message ${n}`);
  return { id, name };
}

test('a member posts, and everybody reads it in a public channel', async () => {
  const name = newName();
  const id = await channels.made(ann, { name, members: [bob] });
  const posted = await channels.post(bob, id, ' <b>To the letter</b>\n');
  const message = {
    ...{ id: expect.any(String), channel_id: id, channel_name: name, from_aid: bob.aid, from_name: 'Bob' },
    ...{ body: ' <b>To the letter</b>\n', created_at: clock.now().toISOString() },
  };
  expect([posted.status, posted.body]).toEqual([201, message]);
  for (const who of [anonymous, eve, bob]) {
    const { status, body } = await channels.messages(who, name);
    const shown = { ...message, id: posted.body.id, msg_type: 'text', metadata: {} };
    expect([status, body]).toEqual([200, { messages: [shown], has_more: false }]);
  }
});

test('a post is one event, for the feed of the channel, however many members there are', async () => {
  const name = newName();
  const id = await channels.made(ann, { name, members: [bob, eve] });
  const { body } = await channels.post(bob, id, 'All of you');
  const posted = (await eventsOf(id)).filter(({ type }) => type === 'channel.posted');
  const post = {
    ...{ message_id: body.id, from_aid: bob.aid, from_name: 'Bob', body: 'All of you', msg_type: 'text', metadata: {} },
  };
  const payload = { channel_id: id, channel_name: name, is_public: true, aid: bob.aid, post, registered_at: null };
  expect(posted).toEqual([
    { type: 'channel.posted', audience: [`channel:${id}`], actor: bob.aid, payload, occurred_at: clock.now() },
  ]);
});

test('creation and joins are events, and refusals are none', async () => {
  const id = await channels.made(ann, { members: [bob, bob] });
  await channels.post(eve, id);
  const told = (await eventsOf(id)).map(({ type, audience, actor }) => [type, audience, actor]);
  expect(told).toEqual([
    ['channel.created', [`agent:${ann.aid}`], ann.aid],
    ['channel.joined', [`channel:${id}`], bob.aid],
  ]);
});

test('pages go back from the newest message, and each message is on one of them', async () => {
  const { name } = await filled(7);
  const seen: string[] = [];
  let before = '';
  for (const expected of [3, 3, 1]) {
    const { messages, has_more } = (await channels.messages(eve, name, `&limit=3${before}`)).body;
    expect([messages.length, has_more]).toEqual([expected, expected === 3]);
    seen.push(...bodiesOf(messages));
    before = `&before=${messages.at(-1).id}`;
  }
  expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1].map((n) => `Message ${n}`));
  const { body } = await channels.messages(eve, name, before);
  expect(body).toEqual({ messages: [], has_more: false });
});

test('a page has 50 messages where nothing else is said, and no more than it may have', async () => {
  const { name } = await filled(51);
  const { messages, has_more } = (await channels.messages(eve, name)).body;
  expect([messages.length, has_more, messages[0].body]).toEqual([50, true, 'Message 51']);
  expect((await channels.messages(eve, name, '&limit=51')).body.has_more).toBe(false);
});

test('a place in another channel, and one that there is not, are refused', async () => {
  const [{ name }, other] = [await filled(1), await filled(1)];
  const { id } = (await channels.messages(eve, other.name)).body.messages[0];
  for (const before of [id, crypto.randomUUID()]) {
    const refused = await channels.messages(eve, name, `&before=${before}`);
    expect(codeOf(refused)).toBe('400 INVALID_FIELD');
    expect(refused.body).toMatchObject({
      detail: 'before is no message of this channel',
      errors: [{ field: 'before' }],
    });
  }
});

test('times never go back from one message to the next, whatever the clock does', async () => {
  const { id, name } = await filled(1);
  const before = clock.now();
  clock.advance(-3_600_000);
  const late = await channels.post(bob, id, 'Late');
  expect(late.body.created_at).toBe(before.toISOString());
  clock.advance(3_600_000);
  const [newest] = (await channels.messages(eve, name)).body.messages;
  expect(newest).toMatchObject({ body: 'Late', created_at: before.toISOString() });
  const [event] = (await eventsOf(id)).slice(-1);
  expect(event?.occurred_at).toEqual(before);
});

test('a post under an Idempotency-Key is stored with the time that its kept answer tells', async () => {
  const { id, name } = await filled(1);
  clock.advance(-3_600_000);
  const request = { ...bob, idempotency: { key: 'late', print: 'late' } };
  const late = await channels.post(request, id, 'Late');
  clock.advance(3_600_000);
  expect(late.status).toBe(201);
  const [newest, first] = (await channels.messages(eve, name)).body.messages;
  expect(newest).toMatchObject({ body: 'Late', created_at: late.body.created_at });
  expect(newest.created_at >= first.created_at).toBe(true);
  expect((await channels.post(request, id, 'Late')).body).toEqual(late.body);
});

test('those who are no members do not post', async () => {
  const id = await channels.made(ann);
  expect(codeOf(await channels.post(eve, id))).toBe('403 NOT_MEMBER');
  expect(codeOf(await channels.broadcast(eve, id))).toBe('403 NOT_MEMBER');
});

test('in an announce channel its creator posts, and no other member', async () => {
  const id = await channels.made(ann, { channel_type: 'announce', members: [bob] });
  expect(codeOf(await channels.post(ann, id))).toBe('201');
  expect(codeOf(await channels.post(bob, id))).toBe('403 PERMISSION_DENIED');
  expect(codeOf(await channels.broadcast(bob, id))).toBe('403 PERMISSION_DENIED');
  expect(codeOf(await channels.post(eve, id))).toBe('403 NOT_MEMBER');
});

test('a broadcast is a channel message with a type and metadata, and counts the others', async () => {
  const name = newName();
  const id = await channels.made(ann, { name, members: [bob, eve] });
  const fields = { msg_type: 'request', metadata: { urgent: true } };
  const sent = await channels.broadcast(ann, id, fields);
  const { broadcast_id } = sent.body;
  const created_at = clock.now().toISOString();
  expect([sent.status, sent.body]).toEqual([201, { broadcast_id, channel_id: id, recipients: 2, created_at }]);
  const { messages } = (await channels.messages(bob, name)).body;
  expect(messages).toMatchObject([{ id: broadcast_id, body: 'Hear', from_aid: ann.aid, ...fields }]);
  const [event] = (await eventsOf(id)).slice(-1);
  expect(event).toMatchObject({ type: 'channel.posted', payload: { post: { message_id: broadcast_id, ...fields } } });
});

test('the longest messages make an answer below 8 MiB', async () => {
  const name = newName();
  const id = await channels.made(ann, { name });
  const body = '\u0001'.repeat(4_095).concat('x');
  const metadata = { text: '\u0001'.repeat(600) };
  await messaging.context.database.prisma.channelMessage.createMany({
    data: Array.from({ length: 100 }, (_, n) => ({
      ...{ channel_id: id, position: n, id: crypto.randomUUID(), from_aid: ann.aid, from_name: 'Ann' },
      ...{ body, msg_type: 'text' as const, metadata, created_at: clock.now() },
    })),
  });
  const answer = await messaging.send(anonymous, `GET /channels/messages?channel_name=${name}&limit=100`);
  const { length } = await answer.text();
  expect([length > 2_000_000, length < 8 * 2 ** 20]).toEqual([true, true]);
});
