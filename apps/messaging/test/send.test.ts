import { agent, type Messaging, startMessaging, stranger } from './harness.js';
import { holdMailbox, type Letters, lettersOf } from './letters.js';

let messaging: Messaging;
let letters: Letters;
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  messaging = await startMessaging();
  letters = lettersOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

const outbox = () => messaging.context.database.prisma.$queryRaw<
  { type: string; audience: string[]; payload: object }[]
>`
  SELECT type, audience, payload FROM bus.outbox ORDER BY position DESC LIMIT 1`;

test('the detailed form answers and delivers, and announces the message to its recipient alone', async () => {
  const sent = await letters.send(ann, bob, 'Hello', {
    msg_type: 'request',
    thread_id: 'greetings',
    metadata: { a: 1 },
  });
  const { message_id } = sent.body;
  expect(sent).toMatchObject({
    status: 201,
    body: { from: ann.aid, to: bob.aid, msg_type: 'request', thread_id: 'greetings', created_at: expect.any(String) },
  });
  const item = { id: message_id, from_aid: ann.aid, from_name: 'Ann', content: 'Hello', msg_type: 'request' };
  const { messages, requests } = await letters.inbox(bob);
  expect(messages).toMatchObject([
    { ...item, thread_id: 'greetings', metadata: { a: 1 }, read: false, verified: null },
  ]);
  expect(requests).toEqual(messages);
  expect(await outbox()).toMatchObject([
    {
      type: 'message.sent',
      audience: [`agent:${bob.aid}`],
      payload: { message_id, to_aid: bob.aid, content: 'Hello' },
    },
  ]);
});

test('content is kept to the letter', async () => {
  const content = ' <b>a</b> && \u202e\t😀 <script>x ';
  await letters.send(ann, eve, content);
  expect((await letters.inbox(eve)).messages[0].content).toBe(content);
});

test('the compact form takes either name of a field, and the first where both are given', async () => {
  const sent = await messaging.call(ann, 'POST /message/send', { from: ann.aid, to: eve.aid, message: 'Short' });
  expect(sent).toMatchObject({ status: 201, body: { delivered_to_inbox: true, webhook_queued: false } });
  const both = { recipient_aid: eve.aid, to: bob.aid, content: 'First', message: 'Second' };
  await messaging.call(ann, 'POST /message/send', both);
  expect((await letters.inbox(eve, '&limit=2')).messages).toMatchObject([{ content: 'First' }, { content: 'Short' }]);
});

test('16 KiB of UTF-8 are the most of the compact form, 2048 characters those of the detailed one', async () => {
  const compact = async (content: string) =>
    (await messaging.call(ann, 'POST /message/send', { to: eve.aid, content })).body.code ?? 'taken';
  expect(await compact('é'.repeat(8192))).toBe('taken');
  expect(await compact('é'.repeat(8193))).toBe('INVALID_CONTENT');
  expect((await letters.send(ann, eve, '😀'.repeat(2048))).status).toBe(201);
  expect((await letters.send(ann, eve, '😀'.repeat(2049))).body.code).toBe('INVALID_CONTENT');
});

test.each([
  ['SELF_MESSAGE', { target_aid: ann.aid }],
  ['TARGET_NOT_FOUND', { target_aid: stranger.aid }],
  ['INVALID_TARGET_AID', { target_aid: 'x' }],
  ['INVALID_TARGET_AID', { target_aid: undefined }],
  ['MISSING_CONTENT', { content: ' \n\u200b' }],
  ['MISSING_CONTENT', { content: undefined }],
  ['INVALID_CONTENT', { content: 7 }],
  ['INVALID_FIELD', { msg_type: 'match' }],
  ['INVALID_FIELD', { thread_id: 'a\nb' }],
  ['INVALID_METADATA', { metadata: [] }],
  ['INVALID_TIMESTAMP', { timestamp: 'now' }],
  ['AID_MISMATCH', { aid: bob.aid }],
  ['INVALID_AID', { to: 'x' }],
  ['AID_MISMATCH', { to: bob.aid, from: bob.aid }],
  ['MISSING_CONTENT', { to: bob.aid, content: undefined }],
])('%s for %j, and nothing is sent', async (code, fields) => {
  const before = await letters.history(ann);
  const { body } = await messaging.call(ann, 'POST /message/send', { target_aid: bob.aid, content: 'x', ...fields });
  expect(body.code).toBe(code);
  expect(await letters.history(ann)).toEqual(before);
});

test('refuses a caller without a principal', async () => {
  const sent = await messaging.call(undefined, 'POST /message/send', { target_aid: bob.aid, content: 'x' });
  expect(sent).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
});

describe('a broadcast', () => {
  const broadcast = (to_aids: readonly string[], fields: object = {}) =>
    messaging.call(ann, 'POST /message/broadcast', { to_aids, body: 'To all', ...fields });

  test('reaches each recipient once, with one time', async () => {
    const sent = await broadcast([bob.aid, eve.aid, bob.aid]);
    expect(sent).toMatchObject({ status: 201, body: { recipients: 2 } });
    const { broadcast_id, created_at } = sent.body;
    for (const who of [bob, eve]) {
      const { messages } = await letters.inbox(who, '&limit=2');
      expect(messages[0]).toMatchObject({ content: 'To all', metadata: { broadcast_id }, created_at });
      expect(messages[1].metadata).not.toMatchObject({ broadcast_id });
    }
  });

  test('reaches fifty agents by one statement', async () => {
    const many = Array.from({ length: 50 }, (_, n) => agent(`Agent ${n}`));
    expect((await broadcast(many.map(({ aid }) => aid))).body).toMatchObject({ recipients: 50 });
    for (const who of many.slice(0, 3)) expect((await letters.inbox(who)).total).toBe(1);
  });

  test('reaches nobody where one recipient cannot get it', async () => {
    const before = (await letters.inbox(bob)).total;
    expect((await broadcast([bob.aid, stranger.aid])).body.code).toBe('TARGET_NOT_FOUND');
    expect((await broadcast([bob.aid, ann.aid])).body.code).toBe('SELF_MESSAGE');
    expect((await letters.inbox(bob)).total).toBe(before);
  });

  test('is held up by a locked mailbox as a whole', async () => {
    const before = (await letters.inbox(bob)).total;
    const held = await holdMailbox(messaging, eve.aid);
    const sending = broadcast([bob.aid, eve.aid]);
    // A message to a free mailbox does not wait, though it may share a statement with the broadcast.
    expect((await letters.send(ann, bob, 'Meanwhile')).status).toBe(201);
    expect((await letters.inbox(bob)).total).toBe(before + 1);
    await held[Symbol.asyncDispose]();
    expect((await sending).status).toBe(201);
    expect((await letters.inbox(bob)).total).toBe(before + 2);
  });

  test.each([
    ['INVALID_FIELD', []],
    ['INVALID_FIELD', Array(51).fill(bob.aid)],
    ['INVALID_FIELD', bob.aid],
    ['INVALID_AID', ['x']],
  ])('is refused with %s', async (code, to_aids) => {
    expect((await messaging.call(ann, 'POST /message/broadcast', { to_aids, body: 'x' })).body.code).toBe(code);
  });
});

test('a proposal is a request whose metadata holds it', async () => {
  const proposal = { type: 'trade', offer: 'stones', request: 'sand' };
  const { status, body } = await messaging.call(ann, 'POST /connect/propose', { to_aid: bob.aid, proposal });
  expect({ status, body }).toMatchObject({ status: 201, body: { to_aid: bob.aid, status: 'pending' } });
  const { requests } = await letters.inbox(bob, '&limit=1');
  expect(requests).toMatchObject([{ id: body.message_id, metadata: { proposal_id: body.proposal_id, proposal } }]);
  const refusal = async (fields: object) =>
    (await messaging.call(ann, 'POST /connect/propose', { to_aid: bob.aid, proposal, ...fields })).body.code;
  expect(await refusal({ to_aid: ann.aid })).toBe('SELF_PROPOSAL');
  expect(await refusal({ to_aid: stranger.aid })).toBe('TARGET_NOT_FOUND');
  expect(await refusal({ proposal: undefined })).toBe('MISSING_FIELDS');
  expect(await refusal({ proposal: 'x' })).toBe('INVALID_FIELD');
});
