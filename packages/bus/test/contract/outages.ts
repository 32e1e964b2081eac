import { eventually } from '@acsp/testkit';
import { taskEvent, taskEvents, titleOf } from '../task-event.js';
import { watch } from './delivery.js';
import type { Harness } from './harness.js';

const slowly = { timeoutMs: 15_000 };

export function survivesOutages({ broker, name, replica }: Harness): void {
  test('a bus that is connected is ready', async () => {
    const { bus } = replica();
    await eventually(() => bus.ready());
  });

  test('while the broker is away publishing rejects within seconds, and the bus is not ready', async () => {
    const { bus } = replica();
    await eventually(() => bus.publish(name(), [taskEvent('before')]));
    await broker().kill();
    try {
      await eventually(() => expect(bus.ready()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' }));
      // A process of the killed server may live a moment longer.
      await eventually(async () => {
        const startedAt = Date.now();
        await expect(bus.publish(name(), [taskEvent('lost')])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
        expect(Date.now() - startedAt).toBeLessThan(3_000);
      });
    } finally {
      await broker().restart();
    }
    await eventually(() => bus.publish(name(), [taskEvent('after')]), slowly);
  });

  test('after the broker was killed a consumer gets what is missing, in order, and again at most what it had in hand', async () => {
    const { bus, titles } = replica();
    const handled = titles();
    await bus.publish(name(), taskEvents(50, 'before'));
    await eventually(() => handled.length > 10);
    await broker().kill();
    await broker().restart();
    const after = taskEvents(50, 'after');
    await eventually(() => bus.publish(name(), after), slowly);
    const expected = [...taskEvents(50, 'before'), ...after].map(titleOf);
    await eventually(() => expect(new Set(handled)).toEqual(new Set(expected)), slowly);
    expect([...new Set(handled)]).toEqual(expected);
  });

  test('an event in hand while the broker is killed is handled, and the process lives', async () => {
    const { bus, titles } = replica();
    let [begun, restarted] = [false, false];
    const handled = titles({
      async handle() {
        begun = true;
        await eventually(() => restarted, slowly);
      },
    });
    await bus.publish(name(), [taskEvent('in hand')]);
    await eventually(() => begun);
    await broker().kill();
    const killedAt = Date.now();
    // Long enough for the sign of life that a message in hand gives every quarter of a second.
    await eventually(() => Date.now() - killedAt > 600);
    await broker().restart();
    restarted = true;
    await eventually(() => handled.length > 0, slowly);
    await eventually(() => bus.publish(name(), [taskEvent('next')]), slowly);
    await eventually(() => handled.includes('next'), slowly);
  });

  test('a consumer and a watcher that start during an outage work after it', async () => {
    await broker().kill();
    const { bus, titles } = replica();
    const handled = titles();
    const watcher = watch(bus, name());
    await expect(bus.ready()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(watcher.live).toEqual([]);
    await broker().restart();
    await eventually(() => watcher.live.length === 1, slowly);
    await eventually(() => bus.publish(name(), [taskEvent('at last')]), slowly);
    await eventually(() => handled.length === 1 && watcher.titles.length === 1, slowly);
  });

  test('a watcher hears that it is blind, and when it sees again', async () => {
    const { bus } = replica();
    const watcher = watch(bus, name());
    await eventually(() => watcher.live.length === 1);
    await broker().kill();
    await eventually(() => watcher.live.length === 2);
    await broker().restart();
    await eventually(() => watcher.live.length === 3, slowly);
    expect(watcher.live).toEqual([true, false, true]);
    await eventually(() => bus.publish(name(), [taskEvent('after')]), slowly);
    await eventually(() => watcher.titles.length === 1);
  });
}
