import { EventsService } from '@acsp/contracts/events/v1/events';
import { newId } from '@acsp/database';
import { createPeer } from '@acsp/service';
import { eventually } from '@acsp/testkit';
import { agent, type Events, startEvents } from './harness.js';
import { isInFeed, messageTo, numbers, postTo, serveChannels } from './radio.js';

const [ann, ben] = [agent('Ann'), agent('Ben')];
const inner = { channel_id: newId(), name: 'inner', is_public: false, members: [ann.aid] };

let messaging: Awaited<ReturnType<typeof serveChannels>>;
let events: Events;

beforeEach(async () => {
  messaging = await serveChannels([inner]);
  events = await startEvents({ env: { MESSAGING_GRPC: messaging.address } });
});
afterEach(async () => {
  for (const each of [events, messaging]) await each[Symbol.asyncDispose]();
});

/** Resolves once they are in the feed. */
async function send(contents: readonly string[]): Promise<void> {
  await events.bus.publish(
    'messaging',
    contents.map((content) => messageTo(ann.aid, content)),
  );
  await eventually(() => isInFeed(events, ann.aid, contents.at(-1)));
}

const list = (caller = ann, query = '') => events.call(caller, `GET /events/stream?aid=${caller.aid}${query}`);
const bodies = (page: readonly { data: { body: string } }[]) => page.map(({ data }) => data.body);

test('answers the latest 100 of the caller, oldest first, as an array', async () => {
  await events.bus.publish('messaging', [messageTo(ben.aid, 'to Ben'), postTo(inner, 'inside')]);
  await send(numbers(120));
  const { status, headers, body } = await list();
  expect(status).toBe(200);
  expect(bodies(body)).toEqual(numbers(100, 21));
  expect(body[0]).toEqual({
    id: expect.stringMatching(/^evt_\d{20}$/),
    event: 'message',
    channel: null,
    data: expect.objectContaining({ body: '21' }),
    created_at: expect.stringMatching(/Z$/),
  });
  expect(headers.has('events-truncated')).toBe(false);
  expect(bodies((await list(ann, '&limit=500')).body)).toEqual(['inside', ...numbers(120)]);
  expect((await list(ann, '&limit=500')).body[0]).toMatchObject({ channel: 'inner' });
  expect(bodies((await list(ben)).body)).toEqual(['to Ben']);
});

test('goes on behind the last event of the client, whoever may read that one', async () => {
  await events.bus.publish('messaging', [messageTo(ben.aid, 'to Ben')]);
  await send(numbers(5));
  const [bens] = (await list(ben)).body;
  const first = (await list(ann, `&after=${bens.id}&limit=2`)).body;
  expect(bodies(first)).toEqual(['1', '2']);
  expect(bodies((await list(ann, `&after=${first[1].id}`)).body)).toEqual(['3', '4', '5']);
  const newest = (await list()).body.at(-1);
  expect((await list(ann, `&after=${newest.id}`)).body).toEqual([]);
});

test('says when something may be kept no longer', async () => {
  await send(numbers(3));
  const [first, second] = (await list()).body;
  await events.context.database.pool.query('DELETE FROM bus.feed WHERE position <= $1', [Number(second.id.slice(4))]);
  const { headers, body } = await list(ann, `&after=${first.id}`);
  expect([bodies(body), headers.get('events-truncated')]).toEqual([['3'], 'true']);
  expect((await list(ann, `&after=${second.id}`)).headers.has('events-truncated')).toBe(false);
});

test('refuses an id that is none, or of no event yet', async () => {
  await send(['1']);
  for (const after of ['1', 'evt_1', 'EVT_00000000000000000001', 'evt_00000000000000009999', ''])
    expect((await list(ann, `&after=${after}`)).body).toMatchObject({ code: 'INVALID_EVENT_ID' });
  for (const limit of ['0', '501', 'x', ''])
    expect((await list(ann, `&limit=${limit}`)).body).toMatchObject({ code: 'INVALID_FIELD' });
});

test('an answer stays below 8 MiB, and the next one goes on', async () => {
  // As JSON each of these characters takes six bytes.
  const contents = numbers(150).map((each) => each.padEnd(16_000, '\u0001'));
  await send(contents);
  const seen: string[] = [];
  for (let after = 'evt_00000000000000000000'; seen.length < 150; ) {
    const { body } = await list(ann, `&limit=500&after=${after}`);
    expect(JSON.stringify(body).length).toBeLessThan(8 * 2 ** 20);
    expect(body.length).toBeGreaterThan(0);
    seen.push(...bodies(body));
    after = body.at(-1).id;
  }
  expect(seen).toEqual(contents);
  expect(JSON.stringify((await list(ann, '&limit=500')).body).length).toBeLessThan(8 * 2 ** 20);
});

test('services read a feed by its name, oldest first', async () => {
  const { address, principals } = events;
  using peer = createPeer(EventsService, { address, principals, name: 'webhook' });
  await send(numbers(3));
  const feed = `agent:${ann.aid}`;
  const { events: all, truncated } = await peer.readFeed({ feed });
  expect([all.map(({ data }) => data?.body), truncated]).toEqual([numbers(3), false]);
  const { events: rest } = await peer.readFeed({ feed, after: all[0]?.id, limit: 1 });
  expect(rest.map(({ data }) => data?.body)).toEqual(['2']);
  await expect(peer.readFeed({ feed: 'mailbox:x' })).rejects.toMatchObject({ code: 'INVALID_FIELD' });
});
