import { AppError } from '@acsp/errors';
import { eventually, metric } from '@acsp/testkit';
import type { Consumer } from '../../src/index.js';
import { taskEvent, taskEvents, titleOf } from '../task-event.js';
import type { Harness } from './harness.js';

const orders = ['strict', 'parallel'] as const;

export function survivesFailures({ name, replica, failedRows }: Harness): void {
  /** Fails the event `poor` on its first attempts. */
  const failing =
    (times: number, seen: number[] = []): Consumer['handle'] =>
    async (event, { attempt }) => {
      if (titleOf(event) !== 'poor') return;
      seen.push(attempt);
      if (attempt <= times) throw new Error('not yet');
    };

  test('strict: events stay in order although one of them fails twice', async () => {
    const { bus, titles } = replica();
    const attempts: number[] = [];
    const handled = titles({ order: 'strict', backoffMs: [50], handle: failing(2, attempts) });
    await bus.publish(
      name(),
      ['first', 'poor', 'third', 'fourth'].map((title) => taskEvent(title)),
    );
    await eventually(() => handled.length >= 4);
    expect(handled).toEqual(['first', 'poor', 'third', 'fourth']);
    expect(attempts).toEqual([1, 2, 3]);
    await eventually(async () => (await failedRows()).length === 0);
  });

  test('parallel: an event that fails comes again with its attempt counted, and others go on', async () => {
    const { bus, titles } = replica();
    const attempts: number[] = [];
    const handled = titles({ order: 'parallel', backoffMs: [50], handle: failing(2, attempts) });
    await bus.publish(
      name(),
      ['poor', 'second', 'third'].map((title) => taskEvent(title)),
    );
    await eventually(() => handled.length >= 3);
    expect(handled).toEqual(['second', 'third', 'poor']);
    expect(attempts).toEqual([1, 2, 3]);
    await eventually(async () => (await failedRows()).length === 0);
  });

  test.each(orders)('%s: an outage longer than all backoffs together uses up no attempt', async (order) => {
    const { bus, titles } = replica();
    const attempts = new Set<number>();
    let [calls, endsAt] = [0, 0];
    const handled = titles({
      order,
      maxAttempts: 2,
      backoffMs: [20, 20],
      async handle(_event, { attempt }) {
        attempts.add(attempt);
        endsAt ||= Date.now() + 500;
        calls += 1;
        if (Date.now() < endsAt) throw new AppError('SERVICE_UNAVAILABLE');
      },
    });
    await bus.publish(name(), taskEvents(3));
    await eventually(() => handled.length >= 3);
    expect(handled).toEqual(['0', '1', '2']);
    expect([...attempts]).toEqual([1]);
    // The handler ran more often than the event may fail.
    expect(calls).toBeGreaterThan(4);
    expect(await failedRows()).toEqual([]);
  });

  test('parallel: an outage during a retry uses up no attempt either', async () => {
    const { bus, titles } = replica();
    const seen: number[] = [];
    const handled = titles({
      order: 'parallel',
      maxAttempts: 2,
      backoffMs: [20],
      async handle(_event, { attempt }) {
        seen.push(attempt);
        if (attempt === 1) throw new Error('not yet');
        if (seen.length < 6) throw new AppError('SERVICE_UNAVAILABLE');
      },
    });
    await bus.publish(name(), [taskEvent('any')]);
    await eventually(() => handled.length === 1);
    expect(seen).toEqual([1, 2, 2, 2, 2, 2]);
  });

  test.each(orders)(
    '%s: an event becomes a dead letter after its last attempt, and those behind it go on',
    async (order) => {
      const { bus, titles } = replica();
      const attempts: number[] = [];
      const handled = titles({ order, maxAttempts: 3, backoffMs: [20], handle: failing(99, attempts) });
      await bus.publish(
        name(),
        ['poor', 'healthy'].map((title) => taskEvent(title)),
      );
      await eventually(async () => expect(await failedRows()).toMatchObject([{ state: 'dead' }]));
      await eventually(() => handled.length === 1);
      expect(await failedRows()).toMatchObject([{ state: 'dead', attempts: 3, error: 'Error: not yet' }]);
      expect(attempts).toEqual([1, 2, 3]);
      const consumer = `consumer="${name()}"`;
      expect(await metric(`acsp_dead_letters_total{${consumer}}`)).toBe(1);
      expect(await metric(`acsp_consumer_attempts_total{${consumer},outcome="failed"}`)).toBe(3);
      expect(await metric(`acsp_consumer_attempts_total{${consumer},outcome="handled"}`)).toBe(1);
    },
  );

  test.each(orders)('%s: attempts survive a restart', async (order) => {
    const [first, second] = [replica(), replica()];
    const [before, after]: number[][] = [[], []];
    first.consume({ order, backoffMs: [20], handle: failing(99, before) });
    await first.bus.publish(name(), [taskEvent('poor')]);
    await eventually(() => (before?.length ?? 0) >= 3);
    await first.stop();
    second.consume({ order, backoffMs: [20], handle: failing(0, after) });
    await eventually(() => after?.length === 1);
    expect(after).toEqual([(before?.length ?? 0) + 1]);
  });

  test('a retry that its replica breaks off because it stops is taken by another one at once', async () => {
    const [first, second] = [replica(), replica()];
    const attempts: number[] = [];
    let retrying = false;
    first.consume({
      order: 'parallel',
      backoffMs: [20],
      async handle(_event, { attempt, signal }) {
        if (attempt === 1) throw new Error('not yet');
        retrying = true;
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    await first.bus.publish(name(), [taskEvent('poor')]);
    await eventually(() => retrying);
    await first.stop();
    second.consume({ order: 'parallel', handle: failing(0, attempts) });
    await eventually(() => attempts.length === 1);
    expect(attempts).toEqual([2]);
  });

  test.each(orders)('%s: a handler that ends because its replica stops has not failed', async (order) => {
    const [first, second] = [replica(), replica()];
    let begun = false;
    first.consume({
      order,
      async handle(_event, { signal }) {
        begun = true;
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    await first.bus.publish(name(), [taskEvent('poor')]);
    await eventually(() => begun);
    await first.stop();
    const attempts: number[] = [];
    second.consume({ order, handle: failing(0, attempts) });
    await eventually(() => attempts.length === 1);
    expect(attempts).toEqual([1]);
  });

  test('the lag of a consumer grows while it stands still, and is no longer exported once it has stopped', async () => {
    const { bus, consume } = replica();
    const lag = async () => (await metric(`acsp_consumer_lag_seconds{consumer="${name()}"}`)) ?? Number.NaN;
    let release = () => {};
    const consumer = consume({
      handle: () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    });
    await bus.publish(name(), [taskEvent('slow')]);
    await eventually(async () => (await lag()) > 0.2);
    const before = await lag();
    await eventually(async () => (await lag()) > before);
    release();
    await eventually(async () => (await lag()) === 0);
    await consumer[Symbol.asyncDispose]();
    expect(await lag()).toBeNaN();
  });
}
