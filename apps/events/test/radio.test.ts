import { newId } from '@acsp/database';
import { eventually } from '@acsp/testkit';
import { agent, stranger } from './harness.js';
import {
  channel,
  isInFeed,
  listen,
  messageTo,
  numbers,
  open,
  refusalOf,
  type Stations,
  startStations,
  tokenOf,
} from './radio.js';

const [ann, ben] = [agent('Ann'), agent('Ben')];
const global = channel('global', true, []);
const news = channel('news', true, []);
const inner = channel('inner', false, [ann.aid]);

let stations: Stations;
beforeAll(async () => {
  stations = await startStations([global, news, inner]);
});
afterAll(() => stations[Symbol.asyncDispose]());

test('a stream begins with connected and brings the own feed and its channels, in the order of ids', async () => {
  const stream = await listen(stations.events, { token: await tokenOf(stations.events, ann), channels: 'news,inner' });
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
  expect(stream.events[0]).toMatchObject({ event: 'connected', data: { aid: ann.aid, channels: ['news', 'inner'] } });
  await stations.post(global, 'not chosen');
  await stations.events.bus.publish('messaging', [messageTo(ben.aid, 'to somebody else')]);
  await stations.send(ann, 'direct');
  await stations.post(news, 'public');
  await stations.post(inner, 'private');
  await eventually(() => stream.bodies().length >= 3);
  expect(stream.bodies()).toEqual(['direct', 'public', 'private']);
  // A heartbeat may come in between.
  const kept = stream.events.filter(({ id }) => id !== undefined);
  expect(kept[1]?.data).toEqual({
    message_id: expect.any(String),
    from_aid: 'a'.repeat(50),
    from_name: 'Otto',
    body: 'direct',
    msg_type: 'text',
    thread_id: null,
  });
  expect(kept[2]?.data).toMatchObject({ channel: 'news' });
  const ids = kept.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort());
  expect(ids[1]).toMatch(/^evt_\d{20}$/);
  stream.cut();
});

test('without channels it brings global', async () => {
  const stream = await listen(stations.events, { token: await tokenOf(stations.events, ann) });
  expect(stream.events[0]?.data.channels).toEqual(['global']);
  await stations.post(global, 'for all');
  await eventually(() => stream.bodies().length === 1);
  stream.cut();
});

test.each(['header', 'query'])(
  'a stream that was cut is taken up by %s on another replica, with nothing lost or repeated',
  async (by) => {
    const token = await tokenOf(stations.events, ann);
    const first = await listen(stations.events, { token });
    await stations.send(ann, '1', '2');
    await eventually(() => first.bodies().length === 2);
    first.cut();
    await stations.send(ann, '3', '4');
    const last_event_id = first.lastId() ?? '';
    const second =
      by === 'header'
        ? await listen(
            stations.replica,
            { token, last_event_id: 'evt_00000000000000000001' },
            { 'last-event-id': last_event_id },
          )
        : await listen(stations.replica, { token, last_event_id });
    await stations.send(ann, '5');
    await eventually(() => second.bodies().length >= 3);
    expect(second.events[0]?.data).toMatchObject({ resumed_from: last_event_id });
    expect(second.bodies()).toEqual(['3', '4', '5']);
    second.cut();
  },
);

test('a stream that is cut right after it connected is taken up from there', async () => {
  const token = await tokenOf(stations.events, ann);
  const first = await listen(stations.events, { token });
  first.cut();
  await stations.send(ann, 'meanwhile');
  const second = await listen(stations.events, { token, last_event_id: first.lastId() ?? '' });
  await eventually(() => second.bodies().length === 1);
  second.cut();
});

test('what is written while a long backlog is read comes once, and in order', async () => {
  const token = await tokenOf(stations.events, ann);
  const first = await listen(stations.events, { token });
  first.cut();
  const before = numbers(400);
  await stations.send(ann, ...before);
  await eventually(() => isInFeed(stations.events, ann.aid, '400'));
  const opening = listen(stations.replica, { token, last_event_id: first.lastId() ?? '' });
  const during = numbers(300, 401);
  for (const each of during) await stations.send(ann, each);
  const second = await opening;
  await eventually(() => second.bodies().length >= 700);
  expect(second.bodies()).toEqual([...before, ...during]);
  second.cut();
});

test('a position that is kept no longer begins at the oldest, and says so', async () => {
  await stations.send(ann, 'old', 'older', 'kept');
  await eventually(() => isInFeed(stations.events, ann.aid, 'kept'));
  const [kept] = await stations.events.bus.feed.latest([`agent:${ann.aid}`], 1);
  await stations.events.context.database.pool.query('DELETE FROM bus.feed WHERE position < $1', [kept?.position]);
  const stream = await listen(stations.events, {
    token: await tokenOf(stations.events, ann),
    last_event_id: 'evt_00000000000000000001',
  });
  expect(stream.events[0]?.data).toMatchObject({ truncated: true });
  await eventually(() => stream.bodies().length === 1);
  expect(stream.bodies()).toEqual(['kept']);
  stream.cut();
});

test('refuses what is no token, no event id, or no channel that the agent may read', async () => {
  const token = await tokenOf(stations.events, ann);
  const bens = await tokenOf(stations.events, ben);
  const strangers = await tokenOf(stations.events, agent('Nobody', { aid: stranger.aid }));
  const formerLife = await tokenOf(stations.events, { ...ann, registeredAt: 1 });
  const cases: [Record<string, string>, number, string][] = [
    [{}, 401, 'AUTH_REQUIRED'],
    [{ token: '' }, 401, 'AUTH_REQUIRED'],
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
    expect({ query, answer: await refusalOf(await open(stations.events, query)) }).toEqual({
      query,
      answer: [status, code],
    });
  expect(stations.events.context.hub.byAgent(ben.aid)).toEqual([]);
});
