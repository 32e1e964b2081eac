import pg from 'pg';
import { type Channels, channelsOf, codeOf } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';
import { expectTrueChannels } from './true-channels.js';

let messaging: Messaging;
let channels: Channels;
const [ann, bob] = [agent('Ann'), agent('Bob')];

beforeAll(async () => {
  messaging = await startMessaging();
  channels = channelsOf(messaging);
});
afterEach(() => expectTrueChannels(messaging));
afterAll(() => messaging[Symbol.asyncDispose]());

/** Locks the row of a channel until it is disposed, as an administrator may. */
async function holdChannel(id: string): Promise<AsyncDisposable> {
  const holder = new pg.Client({ connectionString: messaging.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM channel WHERE channel_id = $1 FOR UPDATE', [id]);
  return { [Symbol.asyncDispose]: () => holder.end() };
}

test('a locked channel keeps neither posts to others waiting nor those who join them', async () => {
  const [locked, ...free] = [await channels.made(ann), await channels.made(ann), await channels.made(ann)];
  await using held = await holdChannel(locked as string);
  const waiting = Array.from({ length: 5 }, () => channels.post(ann, locked as string));
  const joining = channels.join(bob, locked as string);
  for (let round = 0; round < 5; round += 1) {
    const posts = free.map((id) => channels.post(ann, id, `Round ${round}`));
    const joins = free.map((id) => channels.join(agent('Joins'), id));
    expect((await Promise.all([...posts, ...joins])).map(codeOf)).toEqual(['201', '201', '200', '200']);
  }
  await held[Symbol.asyncDispose]();
  expect((await Promise.all([...waiting, joining])).map(codeOf)).toEqual([...Array(5).fill('201'), '200']);
});

test('a channel that stays locked is a 503, and nothing is posted later', async () => {
  const name = 'stays-locked';
  const id = await channels.made(ann, { name });
  const held = await holdChannel(id);
  expect(codeOf(await channels.post(ann, id, 'Too late'))).toBe('503 SERVICE_UNAVAILABLE');
  await held[Symbol.asyncDispose]();
  expect(codeOf(await channels.post(ann, id, 'In time'))).toBe('201');
  const { messages } = (await channels.messages(ann, name)).body;
  expect(messages.map(({ body }: { body: string }) => body)).toEqual(['In time']);
});
