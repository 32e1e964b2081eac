import type { Event } from '@acsp/contracts/events/v1/event';
import { describeWith, eventually } from '@acsp/testkit';
import type { Bus, Consumer } from '../src/index.js';
import { type Broker, natsBroker, postgresBroker } from './brokers.js';
import { taskEvent, taskEvents, titleOf } from './task-event.js';

describeWith('own nats', 'a bus on JetStream', () => keepsTheContract(natsBroker));
describe('a bus in PostgreSQL', () => keepsTheContract(postgresBroker));

function keepsTheContract(start: () => Promise<Broker>): void {
  let broker: Broker;
  let open: AsyncDisposable[] = [];
  let consumers = 0;
  let name = '';

  beforeAll(async () => {
    broker = await start();
  });
  beforeEach(() => {
    name = `test-consumer${++consumers}`;
  });
  afterEach(async () => {
    for (const each of open.reverse()) await each[Symbol.asyncDispose]();
    open = [];
  });
  afterAll(() => broker[Symbol.asyncDispose]());

  function connect(): Bus {
    const bus = broker.connect();
    open.push(bus);
    return bus;
  }

  /** Consumes what is published for the service of this test, and answers the titles that it handled. */
  async function titlesFrom(bus: Bus, options: Partial<Consumer> = {}): Promise<string[]> {
    const titles: string[] = [];
    const handle: Consumer['handle'] = async (event) => void titles.push(titleOf(event) ?? '?');
    open.push(await bus.consume({ name, subjects: [`acsp.${name}.>`], handle, ...options }));
    return titles;
  }

  test('a consumer gets every event, in the order of publication', async () => {
    const bus = connect();
    const titles = await titlesFrom(bus);
    for (const batch of ['a', 'b', 'c']) await bus.publish(name, taskEvents(100, batch));
    await eventually(() => titles.length === 300);
    const expected = ['a', 'b', 'c'].flatMap((batch) => taskEvents(100, batch).map(titleOf));
    expect(titles).toEqual(expected);
  });

  test('nothing is missed of many publishers at once', async () => {
    const publishers = Array.from({ length: 4 }, connect);
    const titles = await titlesFrom(publishers[0] as Bus);
    const batches = Array.from({ length: 40 }, (_, batch) => taskEvents(5, `${batch}.`));
    await Promise.all(batches.map((events, index) => publishers[index % 4]?.publish(name, events)));
    await eventually(() => titles.length >= 200);
    expect(new Set(titles)).toEqual(new Set(batches.flat().map(titleOf)));
  });

  test('an event that is published twice is handled once', async () => {
    const bus = connect();
    const titles = await titlesFrom(bus);
    const twice = taskEvent('twice');
    await bus.publish(name, [twice]);
    await bus.publish(name, [twice, taskEvent('after')]);
    await eventually(() => titles.includes('after'));
    expect(titles).toEqual(['twice', 'after']);
  });

  test('a consumer gets what its patterns take and nothing else', async () => {
    const bus = connect();
    const titles = await titlesFrom(bus, { subjects: [`acsp.${name}.note.>`, `acsp.${name}.*.created`] });
    await bus.publish(name, [{ ...taskEvent('unwanted'), type: 'task.claimed' }, taskEvent('wanted')]);
    await eventually(() => titles.length > 0);
    expect(titles).toEqual(['wanted']);
  });

  test('a consumer that comes back goes on where it stopped', async () => {
    const first = connect();
    const before = await titlesFrom(first);
    await first.publish(name, [taskEvent('before')]);
    await eventually(() => before.length === 1);
    await first[Symbol.asyncDispose]();
    const second = connect();
    await second.publish(name, [taskEvent('meanwhile')]);
    const after = await titlesFrom(second);
    await eventually(() => after.length > 0);
    expect(after).toEqual(['meanwhile']);
  });

  test('a new consumer gets what was published before it existed', async () => {
    const bus = connect();
    await bus.publish(name, [taskEvent('early')]);
    const titles = await titlesFrom(bus);
    await eventually(() => titles.length === 1);
  });

  test('a failed event comes again with its attempt counted, and later events do not wait for it', async () => {
    const bus = connect();
    const attempts: number[] = [];
    const handled: string[] = [];
    await titlesFrom(bus, {
      backoffMs: [100],
      async handle(event, { attempt }) {
        if (titleOf(event) === 'failing') {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('not yet');
        }
        handled.push(titleOf(event) ?? '?');
      },
    });
    await bus.publish(name, [taskEvent('failing'), taskEvent('later')]);
    await eventually(() => handled.length === 2);
    expect(handled).toEqual(['later', 'failing']);
    expect(attempts).toEqual([1, 2, 3]);
  });

  test('an event that keeps failing becomes a dead letter after its last attempt', async () => {
    const bus = connect();
    let attempts = 0;
    const titles: string[] = [];
    await titlesFrom(bus, {
      maxAttempts: 3,
      backoffMs: [50],
      async handle(event) {
        if (titleOf(event) === 'poison' && ++attempts) throw new Error('never');
        titles.push(titleOf(event) ?? '?');
      },
    });
    await bus.publish(name, [taskEvent('poison'), taskEvent('healthy')]);
    await eventually(() => attempts === 3 && titles.length === 1);
    await bus.publish(name, [taskEvent('next')]);
    await eventually(() => titles.length === 2);
    expect(attempts).toBe(3);
    expect(await broker.deadLetters(name)).toBe(1);
  });

  test('while a dependency is down the consumer stands still: the order stays and no attempt is used up', async () => {
    const bus = connect();
    let failures = 3;
    const attempts: number[] = [];
    const titles: string[] = [];
    await titlesFrom(bus, {
      maxAttempts: 1,
      async handle(event, { attempt }) {
        if (failures-- > 0) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        attempts.push(attempt);
        titles.push(titleOf(event) ?? '?');
      },
    });
    await bus.publish(name, taskEvents(3));
    await eventually(() => titles.length === 3);
    expect(titles).toEqual(['0', '1', '2']);
    expect(attempts).toEqual([1, 1, 1]);
  });

  test('two instances of a consumer handle every event once between them', async () => {
    const [one, two] = [connect(), connect()];
    const [first, second] = [await titlesFrom(one), await titlesFrom(two)];
    await one.publish(name, taskEvents(200));
    await eventually(() => first.length + second.length >= 200);
    const all = [...first, ...second].map(Number).sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: 200 }, (_, index) => index));
  });

  test('when one of two instances goes, the other one goes on', async () => {
    const [one, two] = [connect(), connect()];
    const [first, second] = [await titlesFrom(one), await titlesFrom(two)];
    await one[Symbol.asyncDispose]();
    await two.publish(name, taskEvents(20));
    await eventually(() => second.length === 20);
    expect(first).toEqual([]);
  });

  test('every watcher sees events from now on', async () => {
    const [one, two] = [connect(), connect()];
    await one.publish(name, [taskEvent('past')]);
    const watchers = await Promise.all([watch(one), watch(two)]);
    await eventually(() => watchers.every(({ live }) => live[0] === true));
    await one.publish(name, taskEvents(50));
    for (const { titles } of watchers) {
      await eventually(() => titles.length >= 50);
      expect(titles).toEqual(taskEvents(50).map(titleOf));
    }
  });

  test('a bus that is connected is ready', async () => {
    const bus = connect();
    await eventually(async () => {
      await bus.ready();
    });
  });

  describe('when the broker is killed', () => {
    test('publishing rejects within seconds, and the bus is not ready', async () => {
      const bus = connect();
      await bus.publish(name, [taskEvent('before')]);
      await broker.kill();
      try {
        await eventually(() => expect(bus.ready()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' }));
        const startedAt = Date.now();
        await expect(bus.publish(name, [taskEvent('lost')])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
        expect(Date.now() - startedAt).toBeLessThan(3_000);
      } finally {
        await broker.restart();
      }
      await eventually(() => bus.publish(name, [taskEvent('after')]));
    });

    test('a consumer gets what was published before and after, once each and in order', async () => {
      const bus = connect();
      const titles = await titlesFrom(bus);
      await bus.publish(name, taskEvents(50, 'before'));
      await eventually(() => titles.length > 10);
      await broker.kill();
      await broker.restart();
      const after = taskEvents(50, 'after');
      await eventually(() => bus.publish(name, after));
      await eventually(() => titles.length >= 100, { timeoutMs: 10_000 });
      expect(titles).toEqual([...taskEvents(50, 'before'), ...after].map(titleOf));
    });

    test('a consumer and a watcher that start during the outage work after it', async () => {
      await broker.kill();
      const bus = connect();
      const titles = await titlesFrom(bus);
      const watcher = await watch(bus);
      await expect(bus.ready()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(watcher.live).toEqual([]);
      await broker.restart();
      await eventually(() => watcher.live.length === 1);
      await bus.publish(name, [taskEvent('at last')]);
      await eventually(() => titles.length === 1 && watcher.titles.length === 1);
    });

    test('a watcher hears that it is blind, and when it sees again', async () => {
      const bus = connect();
      const watcher = await watch(bus);
      await eventually(() => watcher.live.length === 1);
      await broker.kill();
      await eventually(() => watcher.live.length === 2);
      await broker.restart();
      await eventually(() => watcher.live.length === 3);
      expect(watcher.live).toEqual([true, false, true]);
      await bus.publish(name, [taskEvent('after')]);
      await eventually(() => watcher.titles.length === 1);
    });
  });

  async function watch(bus: Bus): Promise<{ titles: string[]; live: boolean[] }> {
    const seen = { titles: [] as string[], live: [] as boolean[] };
    const handle = (event: Event) => void seen.titles.push(titleOf(event) ?? '?');
    const onLive = (live: boolean) => void seen.live.push(live);
    open.push(await bus.watch({ subjects: [`acsp.${name}.>`], handle, onLive }));
    return seen;
  }
}
