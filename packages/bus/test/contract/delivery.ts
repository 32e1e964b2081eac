import type { Event } from '@acsp/contracts/events/v1/event';
import { eventually } from '@acsp/testkit';
import type { Bus } from '../../src/index.js';
import { taskEvent, taskEvents, titleOf } from '../task-event.js';
import type { Harness } from './harness.js';

export function deliversEvents({ broker, name, replica }: Harness): void {
  test.each(['strict', 'parallel'] as const)(
    'a %s consumer gets every event, in order while none fails',
    async (order) => {
      const { bus, titles } = replica();
      const handled = titles({ order });
      for (const batch of ['a', 'b', 'c']) await bus.publish(name(), taskEvents(100, batch));
      await eventually(() => handled.length >= 300);
      expect(handled).toEqual(['a', 'b', 'c'].flatMap((batch) => taskEvents(100, batch).map(titleOf)));
    },
  );

  test('nothing is missed of many publishers at once', async () => {
    const publishers = Array.from({ length: 4 }, () => replica());
    // Those in PostgreSQL make their tables one after the other.
    await Promise.all(publishers.map(({ bus }) => eventually(() => bus.feed.bounds())));
    const handled = publishers[0]?.titles() ?? [];
    const batches = Array.from({ length: 40 }, (_, batch) => taskEvents(5, `${batch}.`));
    await Promise.all(batches.map((events, index) => publishers[index % 4]?.bus.publish(name(), events)));
    await eventually(() => handled.length >= 200);
    expect(new Set(handled)).toEqual(new Set(batches.flat().map(titleOf)));
  });

  test('an event that is published twice is handled once', async () => {
    const { bus, titles } = replica();
    const handled = titles();
    const twice = taskEvent('twice');
    await bus.publish(name(), [twice]);
    await bus.publish(name(), [twice, taskEvent('after')]);
    await eventually(() => handled.includes('after'));
    expect(handled).toEqual(['twice', 'after']);
  });

  test('a consumer gets what its patterns take and nothing else', async () => {
    const { bus, titles } = replica();
    const handled = titles({ subjects: [`acsp.${name()}.note.>`, `acsp.${name()}.*.created`] });
    await bus.publish(name(), [{ ...taskEvent('unwanted'), type: 'task.claimed' }, taskEvent('wanted')]);
    await eventually(() => handled.length > 0);
    expect(handled).toEqual(['wanted']);
  });

  test('start kept: a new consumer gets what was published before it existed', async () => {
    const { bus, titles } = replica();
    await bus.publish(name(), [taskEvent('early')]);
    const handled = titles({ start: 'kept' });
    await eventually(() => handled.length === 1);
  });

  test('start now: a new consumer gets what comes from its first deployment on, that of its absences too', async () => {
    const first = replica();
    await first.bus.publish(name(), [taskEvent('before its time')]);
    const handled = first.titles({ start: 'now' });
    await eventually(() => broker().knows(name()));
    await first.bus.publish(name(), [taskEvent('first')]);
    await eventually(() => handled.length > 0);
    await first.stop();
    const second = replica();
    await second.bus.publish(name(), [taskEvent('meanwhile')]);
    const later = second.titles({ start: 'now' });
    await eventually(() => later.length > 0);
    expect([...handled, ...later]).toEqual(['first', 'meanwhile']);
  });

  test('every watcher sees events from now on', async () => {
    const [one, two] = [replica(), replica()];
    await one.bus.publish(name(), [taskEvent('past')]);
    const watchers = [one, two].map(({ bus }) => watch(bus, name()));
    await eventually(() => watchers.every(({ live }) => live[0] === true));
    await one.bus.publish(name(), taskEvents(50));
    for (const { titles } of watchers) {
      await eventually(() => titles.length >= 50);
      expect(titles).toEqual(taskEvents(50).map(titleOf));
    }
  });
}

export function watch(bus: Bus, name: string): { titles: string[]; live: boolean[] } {
  const seen = { titles: [] as string[], live: [] as boolean[] };
  const handle = (event: Event) => void seen.titles.push(titleOf(event) ?? '?');
  bus.watch({ subjects: [`acsp.${name}.>`], handle, onLive: (live) => void seen.live.push(live) });
  return seen;
}
