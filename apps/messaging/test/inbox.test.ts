import { metric } from '@acsp/testkit';
import { agent, type Messaging, startMessaging } from './harness.js';
import { contentsOf, type Letters, lettersOf, miscounted } from './letters.js';

let messaging: Messaging;
let letters: Letters;
const ann = agent('Ann');
let readers = 0;
const reader = () => agent(`Reader ${readers++}`);

beforeAll(async () => {
  messaging = await startMessaging();
  letters = lettersOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

async function withMessages(count: number) {
  const who = reader();
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await letters.send(ann, who, `${n}`)).body.message_id);
  return { who, ids };
}

test('an empty inbox is empty, whether the agent ever got a message or not', async () => {
  expect(await letters.inbox(reader())).toMatchObject({
    messages: [],
    total: 0,
    count: 0,
    unread_count: 0,
    has_more: false,
  });
});

test('shows the newest first, page by page', async () => {
  const { who } = await withMessages(5);
  const first = await letters.inbox(who, '&limit=2');
  expect(contentsOf(first.messages)).toEqual(['4', '3']);
  expect(first).toMatchObject({ total: 5, has_more: true });
  const last = await letters.inbox(who, '&limit=2&offset=4');
  expect(contentsOf(last.messages)).toEqual(['0']);
  expect(last).toMatchObject({ total: 5, has_more: false });
});

test('marks some items as read, others’ and unknown ones not', async () => {
  const { who, ids } = await withMessages(3);
  const other = await withMessages(1);
  const message_ids = [ids[1], ids[1], other.ids[0], '019a0000-0000-7000-8000-0000000000aa'];
  expect((await letters.read(who, { message_ids })).body).toEqual({ updated: 1, unread_count: 2 });
  expect((await letters.read(who, { message_ids })).body).toEqual({ updated: 0, unread_count: 2 });
  const { messages, ...counts } = await letters.inbox(who, '&unread=true');
  expect(contentsOf(messages)).toEqual(['2', '0']);
  expect(counts).toMatchObject({ total: 2, count: 3, unread_count: 2 });
  expect((await letters.inbox(other.who)).unread_count).toBe(1);
});

test('marks everything as read, and what comes afterwards is unread', async () => {
  const { who, ids } = await withMessages(3);
  await letters.read(who, { message_ids: [ids[0]] });
  expect((await letters.read(who, { all: true })).body).toEqual({ updated: 2, unread_count: 0 });
  expect((await letters.inbox(who)).messages.every(({ read }: { read: boolean }) => read)).toBe(true);
  await letters.send(ann, who, 'later');
  expect(await letters.inbox(who, '&unread=true')).toMatchObject({
    messages: [{ content: 'later', read: false }],
    unread_count: 1,
  });
  expect(await miscounted(messaging)).toEqual([]);
});

test('reading an inbox that never got anything is no error', async () => {
  expect((await letters.read(reader(), { all: true })).body).toEqual({ updated: 0, unread_count: 0 });
});

test.each([
  ['MISSING_FIELDS', {}],
  ['MISSING_FIELDS', { message_ids: [] }],
  ['MISSING_FIELDS', { all: false }],
  ['INVALID_FIELD', { message_ids: ['x'] }],
  ['INVALID_FIELD', { message_ids: 'x' }],
  ['INVALID_FIELD', { all: 1 }],
])('%s for reading %j', async (code, fields) => {
  expect((await letters.read(ann, fields)).body.code).toBe(code);
});

test('inboxes that are read at the same time share statements, and each shows its own page', async () => {
  const owners = await Promise.all([1, 2, 3, 4].map((count) => withMessages(count)));
  const runs = async () => (await metric('acsp_batch_seconds_count{statement="read inbox"}')) ?? 0;
  const before = await runs();
  const read = owners.flatMap(({ who, ids }) =>
    Array.from({ length: 20 }, async (_, n) => {
      const [limit, offset] = [1 + (n % 3), n % 5];
      const { messages, total } = await letters.inbox(who, `&limit=${limit}&offset=${offset}`);
      const expected = ids.toReversed().slice(offset, offset + limit);
      expect([total, messages.map(({ id }: { id: string }) => id)]).toEqual([ids.length, expected]);
    }),
  );
  await Promise.all(read);
  expect((await runs()) - before).toBeLessThan(read.length);
});

test('a page far down is read by itself, and shows what a shallow one would', async () => {
  const who = reader();
  const { prisma } = messaging.context.database;
  await prisma.$executeRaw`INSERT INTO mailbox (aid, total, unread) VALUES (${who.aid}, 300, 300)`;
  await prisma.$executeRaw`
    INSERT INTO message (id, to_aid, from_aid, from_name, content, msg_type, created_at)
    SELECT gen_random_uuid(), ${who.aid}, ${ann.aid}, 'Ann', n::text, 'text', now() + make_interval(secs => n)
    FROM generate_series(1, 300) AS n`;
  const runs = async () => (await metric('acsp_batch_seconds_count{statement="read inbox"}')) ?? 0;
  const shallow = await letters.inbox(who, '&limit=3&offset=200');
  expect(contentsOf(shallow.messages)).toEqual(['100', '99', '98']);
  const before = await runs();
  for (const unread of [true, false]) {
    const deep = await letters.inbox(who, `&limit=2&offset=201&unread=${unread}`);
    expect(contentsOf(deep.messages)).toEqual(['99', '98']);
    expect(deep).toMatchObject({ total: 300, count: 300, unread_count: 300, has_more: true });
  }
  expect(await runs()).toBe(before);
});

test('a caller who only names an AID gets counts and no content', async () => {
  const { who } = await withMessages(2);
  const named = { name: '', via: 'aid', claimedAid: who.aid, requestId: 'test' } as const;
  const { body } = await messaging.call(named, `GET /inbox?aid=${who.aid}`);
  expect(body).toEqual({
    ...{ aid: who.aid, count: 2, unread_count: 2, messages: [], requests: [], total: null, has_more: null },
  });
});

test('the inbox of others is closed', async () => {
  const answer = await messaging.call(ann, `GET /inbox?aid=${reader().aid}`);
  expect(answer).toMatchObject({ status: 403, body: { code: 'AID_MISMATCH' } });
});

test('an answer is no larger than 8 MiB, and says that there is more', async () => {
  const who = reader();
  await messaging.context.database.prisma
    .$executeRaw`INSERT INTO mailbox (aid, total, unread) VALUES (${who.aid}, 100, 100)`;
  await messaging.context.database.prisma.$executeRaw`
    INSERT INTO message (id, to_aid, from_aid, from_name, content, msg_type, created_at)
    SELECT gen_random_uuid(), ${who.aid}, ${ann.aid}, 'Ann', repeat(chr(1), 16384), 'text', now() + make_interval(secs => n)
    FROM generate_series(1, 100) AS n`;
  for (const body of [await letters.inbox(who, '&limit=100'), await letters.history(who, 'limit=100')]) {
    expect(JSON.stringify(body).length).toBeLessThan(8 * 2 ** 20);
    expect(body.messages.length).toBeGreaterThan(50);
    expect(body.has_more).toBe(true);
  }
});
