import { deletionOf, eventually, testClock } from '@acsp/testkit';
import { agent, startEvents } from './harness.js';
import {
  channel,
  leftBy,
  listen,
  type OpenStream,
  open,
  refusalOf,
  type Stations,
  startStations,
  tokenOf,
} from './radio.js';

const ann = agent('Ann');
const global = channel('global', true, []);
const news = channel('news', true, []);
const inner = channel('inner', false, [ann.aid]);
const clock = testClock();

let stations: Stations;
beforeAll(async () => {
  stations = await startStations([global, news, inner], { clock });
});
afterAll(() => stations[Symbol.asyncDispose]());

const closings = (stream: OpenStream) =>
  stream.events.filter(({ event }) => event === 'closing').map(({ data }) => data);

test('a token has one stream at a time: the newer one ends the older, on this replica and on another', async () => {
  const token = await tokenOf(stations.events, ann);
  const first = await listen(stations.events, { token });
  const second = await listen(stations.events, { token });
  await first.ended;
  const third = await listen(stations.replica, { token });
  await second.ended;
  for (const ended of [first, second])
    expect(closings(ended)).toEqual([{ reason: 'token_expired', last_event_id: expect.any(String), retry_ms: 2000 }]);
  await stations.send(ann, 'to the newest');
  await eventually(() => third.bodies().length === 1);
  third.cut();
});

test('an opening that is refused leaves the stream that its token has', async () => {
  const token = await tokenOf(stations.events, ann);
  const stream = await listen(stations.events, { token });
  expect(await refusalOf(await open(stations.replica, { token, channels: 'nowhere' }))).toEqual([
    403,
    'PERMISSION_DENIED',
  ]);
  const future = { token, last_event_id: 'evt_99999999999999999999' };
  expect(await refusalOf(await open(stations.events, future))).toEqual([400, 'INVALID_EVENT_ID']);
  await stations.send(ann, 'still here');
  await eventually(() => stream.bodies().length === 1);
  stream.cut();
});

test('an expired token takes up the stream that it had open, for 120 s and from its last event, and opens no other', async () => {
  const token = await tokenOf(stations.events, ann);
  const unused = await tokenOf(stations.events, ann);
  const first = await listen(stations.events, { token });
  const last_event_id = first.lastId() ?? '';
  clock.advance(400_000);
  expect(await refusalOf(await open(stations.events, { token: unused, last_event_id }))).toEqual([
    401,
    'INVALID_TOKEN',
  ]);
  expect(await refusalOf(await open(stations.events, { token }))).toEqual([401, 'INVALID_TOKEN']);
  first.cut();
  await first.ended;
  await eventually(
    async () => (await stations.events.context.database.prisma.radio.count({ where: { ended_at: null } })) === 0,
  );
  clock.advance(119_000);
  const second = await listen(stations.replica, { token, last_event_id });
  second.cut();
  await eventually(
    async () => (await stations.events.context.database.prisma.radio.count({ where: { ended_at: null } })) === 0,
  );
  clock.advance(121_000);
  expect(await refusalOf(await open(stations.events, { token, last_event_id }))).toEqual([401, 'INVALID_TOKEN']);
});

test('the end of an agent ends its streams, that of a former life of it does not', async () => {
  const stream = await listen(stations.replica, { token: await tokenOf(stations.events, ann) });
  await stations.events.bus.publish('identity', [deletionOf({ ...ann, registeredAt: 1 })]);
  await stations.send(ann, 'still here');
  await eventually(() => stream.bodies().length === 1);
  await stations.events.bus.publish('identity', [deletionOf(ann)]);
  await stream.ended;
  expect(closings(stream)).toMatchObject([{ reason: 'token_expired' }]);
});

test('who has left a private channel hears it no more, on an open stream too', async () => {
  const stream = await listen(stations.events, { token: await tokenOf(stations.events, ann), channels: 'inner,news' });
  await stations.events.bus.publish('messaging', [leftBy(ann, inner), leftBy(ann, news)]);
  await eventually(() => stream.events.some(({ event }) => event === 'channel'));
  await eventually(
    () => !stations.events.context.hub.byAgent(ann.aid)[0]?.feeds.includes(`channel:${inner.channel_id}`),
  );
  await stations.post(inner, 'secret');
  await stations.post(news, 'public');
  await eventually(() => stream.bodies().length === 1);
  expect(stream.bodies()).toEqual(['public']);
  stream.cut();
});

test('what a former life has left does not end the membership of the present one', async () => {
  const stream = await listen(stations.events, { token: await tokenOf(stations.events, ann), channels: 'inner,news' });
  await stations.events.bus.publish('messaging', [leftBy({ ...ann, registeredAt: 1 }, inner), leftBy(ann, news)]);
  await eventually(() => stream.events.some(({ data }) => data.channel_name === 'news'));
  await stations.post(inner, 'still a member');
  await eventually(() => stream.bodies().length === 1);
  stream.cut();
});

test('a stream says closing when its service stops', async () => {
  const third = await startEvents({
    env: { MESSAGING_GRPC: stations.messaging.address },
    clock,
    databaseUrl: stations.events.databaseUrl,
  });
  const token = await tokenOf(stations.events, ann);
  const stream = await listen(third, { token });
  await third[Symbol.asyncDispose]();
  await stream.ended;
  expect(closings(stream)).toEqual([{ reason: 'shutdown', last_event_id: stream.lastId(), retry_ms: 2000 }]);
});
