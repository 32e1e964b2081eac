import { newId } from '@acsp/database';
import { eventually } from '@acsp/testkit';
import type { TakeBatch } from '../../src/bus.js';
import type { Bus, Feed, FeedMessage, NewMessage } from '../../src/index.js';
import { taskEvent, titleOf } from '../task-event.js';
import type { Harness } from './harness.js';

const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `${from + index}`);
const dataOf = (messages: readonly FeedMessage[]) => messages.map(({ data }) => data);
const positionsOf = (messages: readonly FeedMessage[]) => messages.map(({ position = 0 }) => position);
const all = { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: 500 };

/** The promises of Bus.feed and Bus.readFrom. */
export function keepsFeeds({ name, replica, broker }: Harness): void {
  const feedName = (kind = 'agent') => `${kind}:${name()}`;
  const message = (data: string, feed = feedName()): NewMessage => ({
    feed,
    id: newId(),
    event: 'message',
    data,
    created_at: new Date('2026-01-02T03:04:05.678Z'),
  });

  async function heard(feed: Feed, names: readonly string[]) {
    const messages: FeedMessage[] = [];
    let missed = 0;
    const listener = {
      onMessage: (each: FeedMessage) => void messages.push(each),
      onGap: () => {
        missed += 1;
      },
    };
    const subscriptions = await Promise.all(names.map((each) => eventually(() => feed.subscribe(each, listener))));
    return { messages, missed: () => missed, end: () => subscriptions.map((each) => each[Symbol.dispose]()) };
  }

  /** Notes the titles of all that the bus has, until it ends. */
  function readAll(bus: Bus) {
    const titles: string[] = [];
    const ending = new AbortController();
    const take: TakeBatch = async (events) => void titles.push(...events.map((event) => titleOf(event) ?? ''));
    const reading = bus.readFrom(undefined, take, ending.signal).catch(() => {});
    const end = async () => {
      ending.abort();
      await reading;
    };
    return { titles, end };
  }

  test('a message is heard by every process that subscribed, as it is kept', async () => {
    const [here, there] = [replica().bus.feed, replica().bus.feed];
    const listening = await Promise.all([here, there].map((feed) => heard(feed, [feedName()])));
    await here.append([{ ...message('{"a": "ü"}'), channel: 'news' }]);
    const { last } = await here.bounds();
    const kept = await here.read([feedName()], { ...all, after: last - 1, upTo: last });
    expect(kept).toMatchObject([{ feed: feedName(), event: 'message', channel: 'news', data: '{"a": "ü"}' }]);
    expect(kept[0]?.created_at).toEqual(new Date('2026-01-02T03:04:05.678Z'));
    for (const { messages } of listening) {
      await eventually(() => messages.length === 1);
      expect(messages).toEqual(kept);
    }
  });

  test('what two writers append is heard in the order of positions, once, and kept in it', async () => {
    const [here, there] = [replica().bus.feed, replica().bus.feed];
    const listening = await heard(replica().bus.feed, [feedName(), feedName('channel')]);
    const write = async (feed: Feed, target: string) => {
      for (const each of numbers(30)) await feed.append([message(each, target), message(`${each}b`, target)]);
    };
    await Promise.all([write(here, feedName()), write(there, feedName()), write(there, feedName('channel'))]);
    await eventually(() => listening.messages.length >= 180);
    const positions = positionsOf(listening.messages);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    const kept = await here.read([feedName(), feedName('channel')], all);
    expect(kept).toEqual(listening.messages);
  });

  test('a message that is appended again counts as appended', async () => {
    const { feed } = replica().bus;
    const [first, second] = [message('1'), message('2')];
    await feed.append([first]);
    await feed.append([first, { ...first, feed: feedName('channel') }, second]);
    expect(dataOf(await feed.read([feedName()], all))).toEqual(['1', '2']);
    expect(dataOf(await feed.read([feedName('channel')], all))).toEqual(['1']);
  });

  test('pages of several feeds follow each other without gap', async () => {
    const { feed } = replica().bus;
    const others = message('of somebody else', `${feedName()}-other`);
    for (const each of numbers(10))
      await feed.append([message(each), others, message(`${each}c`, feedName('channel'))]);
    const { last } = await feed.bounds();
    const seen: FeedMessage[] = [];
    for (let after = 0; ; after = seen.at(-1)?.position ?? 0) {
      const page = await feed.read([feedName(), feedName('channel')], { after, upTo: last, limit: 7 });
      seen.push(...page);
      if (page.length < 7) break;
    }
    expect(dataOf(seen)).toEqual(numbers(10).flatMap((each) => [each, `${each}c`]));
    const [, third = 0] = positionsOf(seen);
    expect(dataOf(await feed.read([feedName()], { ...all, upTo: third }))).toEqual(['1']);
    expect(await feed.read([`${feedName()}-nobody`], all)).toEqual([]);
  });

  test('the latest messages are the newest, oldest first, however many others came since', async () => {
    const { feed } = replica().bus;
    await feed.append(numbers(12).map((each) => message(each)));
    await feed.append(numbers(40).map((each) => message(each, `${feedName()}-other`)));
    expect(dataOf(await feed.latest([feedName()], 5))).toEqual(numbers(5, 8));
    expect(dataOf(await feed.latest([feedName()], 50))).toEqual(numbers(12));
    expect(await feed.latest([`${feedName()}-nobody`], 5)).toEqual([]);
    const large = numbers(4).map((each) => message(JSON.stringify(each.repeat(700_000)), `${feedName()}-large`));
    for (const each of large) await feed.append([each]);
    expect((await feed.latest([`${feedName()}-large`], 4)).map(({ data }) => data[1])).toEqual(['3', '4']);
  });

  test('an ephemeral message is heard and not kept', async () => {
    const { feed } = replica().bus;
    const listening = await heard(feed, [feedName()]);
    await feed.publishEphemeral(message('now'));
    await eventually(() => listening.messages.length === 1);
    expect(listening.messages).toMatchObject([{ data: 'now', position: undefined }]);
    expect(await feed.read([feedName()], all)).toEqual([]);
  });

  test('a subscription that ended hears nothing, beside one that goes on', async () => {
    const { feed } = replica().bus;
    const [ended, going] = [await heard(feed, [feedName()]), await heard(feed, [feedName()])];
    ended.end();
    await feed.append([message('1')]);
    await eventually(() => going.messages.length === 1);
    expect(ended.messages).toEqual([]);
  });

  test('after the end of the broker a subscription goes on, and nothing that was kept is lost to it', async () => {
    const { feed } = replica().bus;
    const listening = await heard(feed, [feedName()]);
    await feed.append([message('before')]);
    await eventually(() => listening.messages.length === 1);
    await broker().kill();
    await eventually(() =>
      expect(feed.append([message('lost')])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' }),
    );
    await broker().restart();
    const writer = replica().bus.feed;
    await eventually(async () => {
      await writer.append([message('after')]);
      return listening.messages.some(({ data }) => data === 'after') || listening.missed() > 0;
    });
    await eventually(async () => {
      await writer.append([message('later')]);
      return listening.messages.at(-1)?.data === 'later';
    });
    expect(dataOf(await writer.read([feedName()], all))).toContain('before');
  });

  test('what a reader has got is kept, although the broker is killed at that moment', async () => {
    const { bus } = replica();
    const reading = readAll(bus);
    let going = true;
    const publish = async () => {
      for (let n = 1; going; n += 1) await bus.publish(name(), [taskEvent(`crash ${n}`)]);
    };
    const publishing = publish().catch(() => {});
    await eventually(() => reading.titles.includes('crash 50'));
    await broker().kill();
    going = false;
    const read = [...reading.titles];
    await Promise.all([publishing, reading.end()]);
    await broker().restart();
    const after = replica().bus;
    await eventually(() => after.ready());
    const again = readAll(after);
    await eventually(() => read.every((title) => again.titles.includes(title)));
    await again.end();
  });

  test('a reader goes on from its own position, in order and in batches', async () => {
    const { bus } = replica();
    const titled = (from: number, count: number) => numbers(count, from).map((each) => `read ${each}`);
    const publish = (titles: readonly string[]) =>
      bus.publish(
        name(),
        titles.map((each) => taskEvent(each)),
      );
    async function read(after: string | undefined, last: string) {
      const ending = new AbortController();
      const [titles, positions]: [string[], string[]] = [[], []];
      const take: TakeBatch = async (events, position) => {
        titles.push(...events.map((event) => titleOf(event) ?? '').filter((title) => title.startsWith('read ')));
        positions.push(position);
        if (titles.includes(last)) ending.abort();
      };
      await bus.readFrom(after, take, ending.signal);
      return { titles, position: positions.at(-1), batches: positions.length };
    }
    await eventually(() => publish(titled(1, 120)));
    const first = await read(undefined, 'read 120');
    expect(first.titles).toEqual(titled(1, 120));
    expect(first.batches).toBeLessThan(120);
    await publish(titled(121, 3));
    expect((await read(first.position, 'read 123')).titles).toEqual(titled(121, 3));
    // The broker has lost everything since that position was written down.
    expect((await read('99999999', 'read 123')).titles).toEqual(titled(1, 123));
  });
}
