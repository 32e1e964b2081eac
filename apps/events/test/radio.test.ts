import { newId } from '@acsp/database';
import { deletionOf, eventually, testClock } from '@acsp/testkit';
import { agent, type Events, startEvents, stranger } from './harness.js';
import {
  isInFeed,
  leftBy,
  listen,
  messageTo,
  numbers,
  open,
  postTo,
  serveChannels,
  type TestChannel,
  tokenOf,
} from './radio.js';

const [ann, ben] = [agent('Ann'), agent('Ben')];
const channel = (name: string, is_public: boolean, members: string[]): TestChannel => ({
  channel_id: newId(),
  name,
  is_public,
  members,
});
const global = channel('global', true, []);
const news = channel('news', true, []);
const inner = channel('inner', false, [ann.aid]);
const clock = testClock();

let messaging: Awaited<ReturnType<typeof serveChannels>>;
let events: Events;
let replica: Events;

beforeAll(async () => {
  messaging = await serveChannels([global, news, inner]);
  const env = { MESSAGING_GRPC: messaging.address };
  events = await startEvents({ env, clock });
  replica = await startEvents({ env, clock, databaseUrl: events.databaseUrl });
});
afterAll(async () => {
  for (const each of [replica, events, messaging]) await each[Symbol.asyncDispose]();
});

const send = (...contents: string[]) =>
  events.bus.publish(
    'messaging',
    contents.map((content) => messageTo(ann.aid, content)),
  );
const post = (target: TestChannel, body: string) => events.bus.publish('messaging', [postTo(target, body)]);
const closings = (stream: Awaited<ReturnType<typeof open>>) =>
  stream.events.filter(({ event }) => event === 'closing').map(({ data }) => data);
const refusal = async (stream: Awaited<ReturnType<typeof open>>) => [
  stream.response.status,
  ((await stream.response.json()) as { code: string }).code,
];

test('a stream begins with connected and brings the own feed and its channels, in the order of ids', async () => {
  const stream = await listen(events, { token: await tokenOf(events, ann), channels: 'news,inner' });
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
  expect(stream.events[0]).toMatchObject({ event: 'connected', data: { aid: ann.aid, channels: ['news', 'inner'] } });
  await post(global, 'not chosen');
  await events.bus.publish('messaging', [messageTo(ben.aid, 'to somebody else')]);
  await send('direct');
  await post(news, 'public');
  await post(inner, 'private');
  await eventually(() => stream.bodies().length >= 3);
  expect(stream.bodies()).toEqual(['direct', 'public', 'private']);
  expect(stream.events[1]?.data).toEqual({
    message_id: expect.any(String),
    from_aid: 'a'.repeat(50),
    from_name: 'Otto',
    body: 'direct',
    msg_type: 'text',
    thread_id: null,
  });
  expect(stream.events[2]?.data).toMatchObject({ channel: 'news' });
  const ids = stream.events.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort());
  expect(ids[1]).toMatch(/^evt_\d{20}$/);
  stream.cut();
});

test('without channels it brings global', async () => {
  const stream = await listen(events, { token: await tokenOf(events, ann) });
  expect(stream.events[0]?.data.channels).toEqual(['global']);
  await post(global, 'for all');
  await eventually(() => stream.bodies().length === 1);
  stream.cut();
});

test.each(['header', 'query'])(
  'a stream that was cut is taken up by %s on another replica, with nothing lost or repeated',
  async (by) => {
    const token = await tokenOf(events, ann);
    const first = await listen(events, { token });
    await send('1', '2');
    await eventually(() => first.bodies().length === 2);
    first.cut();
    await send('3', '4');
    const last_event_id = first.lastId() ?? '';
    const second =
      by === 'header'
        ? await listen(
            replica,
            { token, last_event_id: 'evt_00000000000000000001' },
            { 'last-event-id': last_event_id },
          )
        : await listen(replica, { token, last_event_id });
    await send('5');
    await eventually(() => second.bodies().length >= 3);
    expect(second.events[0]?.data).toMatchObject({ resumed_from: last_event_id });
    expect(second.bodies()).toEqual(['3', '4', '5']);
    second.cut();
  },
);

test('a stream that is cut right after it connected is taken up from there', async () => {
  const token = await tokenOf(events, ann);
  const first = await listen(events, { token });
  first.cut();
  await send('meanwhile');
  const second = await listen(events, { token, last_event_id: first.lastId() ?? '' });
  await eventually(() => second.bodies().length === 1);
  second.cut();
});

test('what is written while a long backlog is read comes once, and in order', async () => {
  const token = await tokenOf(events, ann);
  const first = await listen(events, { token });
  first.cut();
  const before = numbers(400);
  await send(...before);
  await eventually(() => isInFeed(events, ann.aid, '400'));
  const opening = listen(replica, { token, last_event_id: first.lastId() ?? '' });
  const during = numbers(300, 401);
  for (const each of during) await send(each);
  const second = await opening;
  await eventually(() => second.bodies().length >= 700);
  expect(second.bodies()).toEqual([...before, ...during]);
  second.cut();
});

test('a position that is kept no longer begins at the oldest, and says so', async () => {
  await send('old', 'older', 'kept');
  await eventually(() => isInFeed(events, ann.aid, 'kept'));
  const [kept] = await events.bus.feed.latest([`agent:${ann.aid}`], 1);
  await events.context.database.pool.query('DELETE FROM bus.feed WHERE position < $1', [kept?.position]);
  const stream = await listen(events, { token: await tokenOf(events, ann), last_event_id: 'evt_00000000000000000001' });
  expect(stream.events[0]?.data).toMatchObject({ truncated: true });
  await eventually(() => stream.bodies().length === 1);
  expect(stream.bodies()).toEqual(['kept']);
  stream.cut();
});

test('refuses what is no token, no event id, or no channel that the agent may read', async () => {
  const token = await tokenOf(events, ann);
  const bens = await tokenOf(events, ben);
  const strangers = await tokenOf(events, agent('Nobody', { aid: stranger.aid }));
  const formerLife = await tokenOf(events, { ...ann, registeredAt: 1 });
  const cases: [Record<string, string>, number, string][] = [
    [{}, 401, 'AUTH_REQUIRED'],
    [{ token: 'x' }, 401, 'INVALID_TOKEN'],
    [{ token: `${token}x` }, 401, 'INVALID_TOKEN'],
    [{ token: strangers }, 401, 'INVALID_TOKEN'],
    [{ token: formerLife }, 401, 'INVALID_TOKEN'],
    [{ token, last_event_id: '5' }, 400, 'INVALID_EVENT_ID'],
    [{ token, last_event_id: '' }, 400, 'INVALID_EVENT_ID'],
    [{ token, last_event_id: 'evt_99999999999999999999' }, 400, 'INVALID_EVENT_ID'],
    [{ token: bens, channels: 'inner' }, 403, 'PERMISSION_DENIED'],
    [{ token, channels: 'global,nowhere' }, 403, 'PERMISSION_DENIED'],
    [{ token, channels: 'agent:x' }, 403, 'PERMISSION_DENIED'],
    [{ token, channels: `presence:${newId()}` }, 403, 'PERMISSION_DENIED'],
    [{ token, channels: 'presence:x' }, 403, 'PERMISSION_DENIED'],
    [{ token, channels: '' }, 400, 'INVALID_FIELD'],
    [{ token, channels: numbers(21).join() }, 400, 'INVALID_FIELD'],
  ];
  for (const [query, status, code] of cases)
    expect({ query, answer: await refusal(await open(events, query)) }).toEqual({ query, answer: [status, code] });
  expect(events.context.hub.byAgent(ben.aid)).toEqual([]);
});

test('a token has one stream at a time: the newer one ends the older, on this replica and on another', async () => {
  const token = await tokenOf(events, ann);
  const first = await listen(events, { token });
  const second = await listen(events, { token });
  await first.ended;
  const third = await listen(replica, { token });
  await second.ended;
  for (const ended of [first, second])
    expect(closings(ended)).toEqual([{ reason: 'token_expired', last_event_id: expect.any(String), retry_ms: 2000 }]);
  await send('to the newest');
  await eventually(() => third.bodies().length === 1);
  third.cut();
});

test('an opening that is refused leaves the stream that its token has', async () => {
  const token = await tokenOf(events, ann);
  const stream = await listen(events, { token });
  expect(await refusal(await open(replica, { token, channels: 'nowhere' }))).toEqual([403, 'PERMISSION_DENIED']);
  const future = { token, last_event_id: 'evt_99999999999999999999' };
  expect(await refusal(await open(events, future))).toEqual([400, 'INVALID_EVENT_ID']);
  await send('still here');
  await eventually(() => stream.bodies().length === 1);
  stream.cut();
});

test('an expired token takes up the stream that it had open, for 120 s and from its last event, and opens no other', async () => {
  const token = await tokenOf(events, ann);
  const unused = await tokenOf(events, ann);
  const first = await listen(events, { token });
  const last_event_id = first.lastId() ?? '';
  clock.advance(400_000);
  expect(await refusal(await open(events, { token: unused, last_event_id }))).toEqual([401, 'INVALID_TOKEN']);
  expect(await refusal(await open(events, { token }))).toEqual([401, 'INVALID_TOKEN']);
  first.cut();
  await first.ended;
  await eventually(async () => (await events.context.database.prisma.radio.count({ where: { ended_at: null } })) === 0);
  clock.advance(119_000);
  const second = await listen(replica, { token, last_event_id });
  second.cut();
  await eventually(async () => (await events.context.database.prisma.radio.count({ where: { ended_at: null } })) === 0);
  clock.advance(121_000);
  expect(await refusal(await open(events, { token, last_event_id }))).toEqual([401, 'INVALID_TOKEN']);
});

test('the end of an agent ends its streams, that of a former life of it does not', async () => {
  const stream = await listen(replica, { token: await tokenOf(events, ann) });
  await events.bus.publish('identity', [deletionOf({ ...ann, registeredAt: 1 })]);
  await send('still here');
  await eventually(() => stream.bodies().length === 1);
  await events.bus.publish('identity', [deletionOf(ann)]);
  await stream.ended;
  expect(closings(stream)).toMatchObject([{ reason: 'token_expired' }]);
});

test('who has left a private channel hears it no more, on an open stream too', async () => {
  const stream = await listen(events, { token: await tokenOf(events, ann), channels: 'inner,news' });
  await events.bus.publish('messaging', [leftBy(ann.aid, inner), leftBy(ann.aid, news)]);
  await eventually(() => stream.events.some(({ event }) => event === 'channel'));
  await eventually(() => !events.context.hub.byAgent(ann.aid)[0]?.feeds.includes(`channel:${inner.channel_id}`));
  await post(inner, 'secret');
  await post(news, 'public');
  await eventually(() => stream.bodies().length === 1);
  expect(stream.bodies()).toEqual(['public']);
  stream.cut();
});

test('a stream says closing when its service stops', async () => {
  const third = await startEvents({
    env: { MESSAGING_GRPC: messaging.address },
    clock,
    databaseUrl: events.databaseUrl,
  });
  const token = await tokenOf(events, ann);
  const stream = await listen(third, { token });
  await third[Symbol.asyncDispose]();
  await stream.ended;
  expect(closings(stream)).toEqual([{ reason: 'shutdown', last_event_id: stream.lastId(), retry_ms: 2000 }]);
});
