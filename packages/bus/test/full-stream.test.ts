import { describeWith, eventually } from '@acsp/testkit';
import { natsBroker } from './brokers.js';
import { unpublished } from './outbox.js';
import { numbered, relayHarness } from './relay-harness.js';
import { taskEvent } from './task-event.js';

describeWith(['own nats', 'postgres'], 'on a full stream', () => {
  const { broker, bus, database, relay, consumed, emitAll } = relayHarness(natsBroker);

  const limit = (limits: { readonly max_msgs: number; readonly discard: 'new' | 'old' }) =>
    broker().ask(({ streams }) => streams.update('EVENTS', limits as Parameters<typeof streams.update>[1]));

  test('publishing rejects while a consumer goes on, and the relay publishes everything in order once there is room', async () => {
    await emitAll(numbered('kept', 300));
    const publishing = relay();
    await eventually(async () => (await unpublished(database().pool)) === 0);
    await limit({ max_msgs: 300, discard: 'new' });
    const titles = consumed('kept');
    let rejections = 0;
    while (titles.length < 300) {
      await expect(bus().publish('tasks', [taskEvent('refused')])).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
      });
      rejections += 1;
    }
    expect(rejections).toBeGreaterThan(0);
    expect(titles).toEqual(numbered('kept', 300));
    await emitAll(numbered('kept late', 3));
    publishing.wake();
    await expect(bus().publish('tasks', [taskEvent('refused')])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await unpublished(database().pool)).toBe(3);
    await limit({ max_msgs: -1, discard: 'old' });
    await eventually(() => titles.length === 303, { timeoutMs: 10_000 });
    expect(titles.slice(300)).toEqual(numbered('kept late', 3));
  });
});
