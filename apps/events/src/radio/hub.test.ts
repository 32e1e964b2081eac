import type { Feed, FeedMessage } from '@acsp/bus';
import type { StreamedEvent } from '@acsp/http';
import { eventually, quietLog as log } from '@acsp/testkit';
import { createHub, type Hub } from './hub.js';
import type { Radio } from './radio.js';

// The rules of open streams, with a feed that a test speaks for and timers that it moves.

const { jest } = import.meta;

type Listener = Parameters<Feed['subscribe']>[1];

const feedName = 'agent:x';
let listeners: Listener[];
let stored: FeedMessage[];
let ended: Radio[];
/** Reads and subscriptions of the feed wait for these. */
let [answered, connected]: (Promise<void> | undefined)[] = [undefined, undefined];
let hub: Hub;

const message = (position: number | undefined, data = `"${position}"`): FeedMessage => ({
  ...{ position, feed: feedName, event: 'message', channel: null, data, created_at: new Date(0) },
});

beforeEach(() => {
  jest.useFakeTimers();
  [listeners, stored, ended] = [[], [], []];
  [answered, connected] = [undefined, undefined];
  const feed: Feed = {
    append: async () => {},
    publishEphemeral: async () => {},
    latest: async () => [],
    bounds: async () => ({ first: 1, last: stored.at(-1)?.position ?? 0 }),
    async read(feeds, { after, upTo, limit }) {
      const found = stored.filter(
        ({ feed, position = 0 }) => feeds.includes(feed) && position > after && position <= upTo,
      );
      await answered;
      return found.slice(0, limit);
    },
    async subscribe(_feed, listener) {
      await connected;
      listeners.push(listener);
      return { [Symbol.dispose]: () => void listeners.splice(listeners.indexOf(listener), 1) };
    },
  };
  hub = createHub({ feed, log, onEnd: (radio) => void ended.push(radio) });
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  jest.useRealTimers();
});

function newRadio(fields: Partial<Radio> = {}) {
  const written: StreamedEvent[] = [];
  const state = { waiting: 0, ended: false };
  const sink = {
    write: (event: StreamedEvent) => void written.push(event),
    waiting: () => state.waiting,
    end() {
      state.ended = true;
    },
  };
  const radio: Radio = {
    ...{ token_id: '1', aid: 'x', since: new Date(0), number: 1, sink, feeds: [], watch_id: undefined, position: 0 },
    ...{
      behind: { items: [], length: 0, again: false },
      endsAt: Number.POSITIVE_INFINITY,
      slot: 3,
      stale: false,
      closed: false,
    },
    ...fields,
  };
  const data = () => written.filter(({ event }) => event === 'message').map((each): string => JSON.parse(each.data));
  return { radio, written, state, data };
}

async function play(fields: Partial<Radio> = {}, upTo = 0) {
  const stream = newRadio(fields);
  hub.add(stream.radio);
  await hub.subscribe(stream.radio, [feedName]);
  hub.startReplay(stream.radio, upTo);
  await jest.advanceTimersByTimeAsync(0);
  return stream;
}

const hear = (...messages: FeedMessage[]) => {
  for (const each of messages) for (const listener of [...listeners]) listener.onMessage(each);
};

test('each stream has a heartbeat every 15 seconds, until it ends', async () => {
  const { written } = await play({ endsAt: Date.now() + 280_000 });
  await jest.advanceTimersByTimeAsync(281_000);
  const kinds = written.map(({ event }) => event);
  expect(kinds).toEqual([
    ...Array(18).fill('heartbeat'),
    expect.stringMatching('heartbeat|closing'),
    ...kinds.slice(19),
  ]);
  expect(written.at(-1)?.data).toContain('"reason":"max_duration"');
  expect(ended).toHaveLength(1);
  expect(listeners).toEqual([]);
});

test('a message that is heard twice, or before the position, is written once', async () => {
  const { data } = await play({ position: 2 }, 2);
  hear(message(1), message(2), message(3), message(3), message(4));
  expect(data()).toEqual(['3', '4']);
});

test('what is heard while a stream catches up waits for its place', async () => {
  stored = [message(1), message(2), message(3)];
  const stream = newRadio();
  hub.add(stream.radio);
  await hub.subscribe(stream.radio, [feedName]);
  hear(message(3), message(4));
  hub.startReplay(stream.radio, 3);
  hear(message(5), message(undefined, '"shown"'));
  await jest.advanceTimersByTimeAsync(0);
  expect(stream.data()).toEqual(['1', '2', '3', '4', '5']);
  hear(message(undefined, '"shown"'));
  expect(stream.data().at(-1)).toBe('shown');
});

test('a stream behind which more comes than is held reads it from the feed', async () => {
  const all = Array.from({ length: 3_000 }, (_, index) =>
    message(index + 1, JSON.stringify(`${index + 1}`.padEnd(200))),
  );
  stored = all.slice(0, 10);
  const stream = newRadio();
  hub.add(stream.radio);
  await hub.subscribe(stream.radio, [feedName]);
  stored = all;
  hear(...all.slice(10));
  hub.startReplay(stream.radio, 10);
  await jest.advanceTimersByTimeAsync(0);
  expect(stream.data().map((text) => text.trim())).toEqual(all.map(({ position }) => `${position}`));
  expect(stream.radio.behind).toBeUndefined();
});

test('after a lost connection a stream reads what it has missed', async () => {
  const { data } = await play();
  hear(message(1));
  stored = [message(1), message(2), message(3)];
  for (const { onGap } of listeners) onGap();
  hear(message(4));
  await jest.advanceTimersByTimeAsync(0);
  expect(data()).toEqual(['1', '2', '3', '4']);
});

test('a stream that changes its feeds misses nothing, neither of the former ones nor of the new one', async () => {
  const { radio, data } = await play();
  const other = (position: number) => ({ ...message(position), feed: 'agent:y' });
  stored = [message(1), other(2)];
  const changed = hub.resubscribe(radio, ['agent:y']);
  stored.push(other(3));
  await jest.advanceTimersByTimeAsync(0);
  await changed;
  expect(data()).toEqual(['1', '2', '3']);
  expect(radio.feeds).toEqual(['agent:y']);
});

test('a stream that changes its feeds while it catches up misses nothing, although a gap comes before they are heard', async () => {
  let [answer, connect] = [() => {}, () => {}];
  const { radio, data } = await play();
  stored = [message(1)];
  answered = new Promise((resolve) => {
    answer = resolve;
  });
  for (const { onGap } of listeners) onGap();
  await jest.advanceTimersByTimeAsync(0);
  connected = new Promise((resolve) => {
    connect = resolve;
  });
  const changed = hub.resubscribe(radio, ['agent:y']);
  for (const { onGap } of listeners) onGap();
  answer();
  await jest.advanceTimersByTimeAsync(0);
  stored.push({ ...message(2), feed: 'agent:y' });
  connect();
  await jest.advanceTimersByTimeAsync(0);
  await changed;
  expect(data()).toEqual(['1', '2']);
});

test('a reader with more than 1 MiB before it is closed, and told so', async () => {
  const { state, written } = await play();
  state.waiting = 2 ** 20 + 1;
  hear(message(1), message(2));
  expect(written.map(({ event }) => event)).toEqual(['message', 'closing']);
  expect(JSON.parse(written[1]?.data ?? '')).toEqual({
    ...{ reason: 'slow_consumer', last_event_id: 'evt_00000000000000000001', retry_ms: 2000 },
  });
  expect(state.ended).toBe(true);
});

test('a backlog is written no faster than its reader takes it, and closes nobody who reads', async () => {
  stored = Array.from({ length: 120 }, (_, index) => message(index + 1, JSON.stringify('x'.repeat(30_000))));
  const stream = newRadio();
  hub.add(stream.radio);
  await hub.subscribe(stream.radio, [feedName]);
  jest.useRealTimers();
  // Written events wait until the test takes them.
  Object.defineProperty(stream.state, 'waiting', { get: () => (stream.written.length - taken) * 30_000 });
  let taken = 0;
  hub.startReplay(stream.radio, 120);
  await eventually(() => stream.written.length > 0);
  const most: number[] = [];
  while (taken < 120) {
    await eventually(() => stream.written.length > taken);
    most.push(stream.written.length - taken);
    taken = stream.written.length;
  }
  expect(Math.max(...most) * 30_000).toBeLessThan(2 ** 19);
  expect(stream.data()).toHaveLength(120);
  expect(ended).toEqual([]);
});

test('a message is written out once, however many streams there are', async () => {
  const streams = await Promise.all(['1', '2', '3'].map((token_id) => play({ token_id })));
  expect(listeners).toHaveLength(1);
  hear(message(1));
  const [first, ...others] = streams.map(({ written }) => written[0]);
  for (const other of others) expect(other).toBe(first);
});
