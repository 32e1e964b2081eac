import { type TestClock, testClock } from '@acsp/testkit';
import { channelsOf, newName } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';
import { contentsOf, type Letters, lettersOf, miscounted } from './letters.js';

let clock: TestClock;
let messaging: Messaging;
let letters: Letters;
const ann = agent('Ann');

beforeAll(async () => {
  clock = testClock();
  messaging = await startMessaging({ clock });
  letters = lettersOf(messaging);
});
afterAll(() => messaging[Symbol.asyncDispose]());

const unreadOf = async (who: typeof ann) => {
  const { messages, total, unread_count } = await letters.inbox(who, '&unread=true');
  return { contents: contentsOf(messages), total, unread_count };
};

test('a message of the same millisecond is unread when it comes after everything was read', async () => {
  const reader = agent('Quick reader');
  await letters.send(ann, reader, 'read');
  await letters.read(reader, { all: true });
  await letters.send(ann, reader, 'unread');
  expect(await unreadOf(reader)).toEqual({ contents: ['unread'], total: 1, unread_count: 1 });
  expect(await miscounted(messaging)).toEqual([]);
});

test('a notice is unread when it comes after everything was read, from a replica whose clock is behind', async () => {
  const reader = agent('Invited reader');
  const { made, invite } = channelsOf(messaging);
  const id = await made(ann, { name: newName(), is_public: false });
  await letters.send(ann, reader, 'read');
  await letters.read(reader, { all: true });
  clock.advance(-2_000);
  await invite(ann, id, reader.aid);
  clock.advance(2_000);
  expect(await unreadOf(reader)).toMatchObject({ contents: [expect.any(String)], total: 1, unread_count: 1 });
  expect(await miscounted(messaging)).toEqual([]);
});
