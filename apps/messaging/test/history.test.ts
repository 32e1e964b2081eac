import { type TestClock, testClock } from '@acsp/testkit';
import * as fc from 'fast-check';
import { agent, type Messaging, startMessaging } from './harness.js';
import { contentsOf, type Letters, lettersOf } from './letters.js';

let messaging: Messaging;
let letters: Letters;
let clock: TestClock;
let names = 0;
const someone = () => agent(`Agent ${names++}`);

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock });
  letters = lettersOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

/** Every page from the newest message on. */
async function walk(who: ReturnType<typeof agent>, query: string): Promise<string[]> {
  const contents: string[] = [];
  for (let before = ''; ; ) {
    const page = await letters.history(who, `${query}${before && `&before=${before}`}`);
    contents.push(...contentsOf(page.messages));
    if (!page.has_more) return contents;
    before = page.cursor;
  }
}

test('shows what both sides sent, of one other agent or of one thread', async () => {
  const [ann, bob, eve] = [someone(), someone(), someone()];
  const say = async (from: typeof ann, to: typeof ann, content: string, fields: object = {}) => {
    clock.advance(1);
    await letters.send(from, to, content, fields);
  };
  await say(ann, bob, '1');
  await say(bob, ann, '2', { thread_id: 'stones' });
  await say(eve, ann, '3', { thread_id: 'stones' });
  await say(eve, bob, '4', { thread_id: 'stones' });
  const seen = async (who: typeof ann, query: string) => contentsOf((await letters.history(who, query)).messages);
  expect(await seen(ann, '')).toEqual(['3', '2', '1']);
  expect(await seen(ann, `with_aid=${bob.aid}`)).toEqual(['2', '1']);
  expect(await seen(ann, 'thread_id=stones')).toEqual(['3', '2']);
  expect(await seen(eve, `with_aid=${bob.aid}&thread_id=stones`)).toEqual(['4']);
  expect(await seen(eve, `with_aid=${someone().aid}`)).toEqual([]);
});

test('a walk shows every message once, however many share a millisecond and wherever a page ends', async () => {
  const steps = fc.array(fc.record({ mine: fc.boolean(), later: fc.integer({ min: 0, max: 1 }) }), {
    minLength: 1,
    maxLength: 25,
  });
  const property = fc.asyncProperty(steps, fc.integer({ min: 1, max: 7 }), async (sent, limit) => {
    const [ann, bob] = [someone(), someone()];
    for (const [n, { mine, later }] of sent.entries()) {
      clock.advance(later);
      await letters.send(...((mine ? [ann, bob] : [bob, ann]) as [typeof ann, typeof ann]), `${n}`);
    }
    const all = sent.map((_, n) => `${n}`);
    for (const query of [`limit=${limit}`, `limit=${limit}&with_aid=${bob.aid}`]) {
      expect((await walk(ann, query)).sort()).toEqual([...all].sort());
    }
  });
  await fc.assert(property, { numRuns: 12 });
});

test('long broadcasts at the same time share no millisecond, so that no page of one is larger than an answer may be', async () => {
  const [ann, others] = [someone(), Array.from({ length: 50 }, someone)];
  const to_aids = others.map(({ aid }) => aid);
  // A page has whole milliseconds. As JSON a text may be six times as long: 10 KiB to fifty agents are 3 MiB.
  const body = 'y'.repeat(6_000);
  const sent = await Promise.all(
    Array.from({ length: 4 }, () => messaging.call(ann, 'POST /message/broadcast', { to_aids, body })),
  );
  expect(sent.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  const page = await letters.history(ann, 'limit=1');
  expect(page.messages).toHaveLength(50);
  expect(await walk(ann, 'limit=100')).toHaveLength(200);
});

test('a page ends behind a whole millisecond', async () => {
  const [ann, bob] = [someone(), someone()];
  await letters.send(ann, bob, 'before');
  clock.advance(1);
  for (let n = 0; n < 4; n += 1) await letters.send(ann, bob, `${n}`);
  clock.advance(1);
  await letters.send(ann, bob, 'after');
  const page = await letters.history(ann, 'limit=2');
  expect(contentsOf(page.messages).sort()).toEqual(['0', '1', '2', '3', 'after']);
  expect(contentsOf((await letters.history(ann, `before=${page.cursor}`)).messages)).toEqual(['before']);
});

test('times of an agent’s messages never go back, though the clock of a replica is slow', async () => {
  await using slow = await startMessaging({
    clock: testClock(clock.now().getTime() - 60_000),
    databaseUrl: messaging.databaseUrl,
  });
  const late = lettersOf(slow);
  const [ann, bob, eve] = [someone(), someone(), someone()];
  await letters.send(ann, bob, '1');
  await late.send(bob, ann, '2');
  await late.send(bob, eve, '3');
  await letters.send(eve, bob, '4');
  expect(await walk(bob, 'limit=1')).toEqual(['4', '3', '2', '1']);
  const { messages } = await letters.history(bob);
  const times = messages.map(({ created_at }: { created_at: string }) => created_at);
  expect(times).toEqual([...times].sort().reverse());
});

test.each([
  ['INVALID_AID', 'with_aid=x'],
  ['INVALID_FIELD', 'thread_id='],
  ['INVALID_FIELD', 'limit=0'],
  ['INVALID_FIELD', 'limit=101'],
  ['INVALID_FIELD', 'before=yesterday'],
  ['AID_MISMATCH', `aid=${'a'.repeat(50)}`],
])('%s for ?%s', async (code, query) => {
  expect((await letters.history(someone(), query)).code).toBe(code);
});
