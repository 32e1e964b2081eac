import { describeWith, eventually } from '@acsp/testkit';
import type { Bus } from '../src/index.js';
import { type Broker, natsBroker, postgresBroker } from './brokers.js';
import { emitTask, taskPayload } from './outbox.js';
import { relayHarness } from './relay-harness.js';
import { titleOf } from './task-event.js';

describeWith(['own nats', 'postgres'], 'scans of a relay to JetStream', () => findsWhatComesLate(natsBroker));
describeWith('postgres', 'scans of a relay to PostgreSQL', () => findsWhatComesLate(postgresBroker));

/** Scans begin behind what is settled, and miss nothing before it. */
function findsWhatComesLate(start: () => Promise<Broker>): void {
  const { bus, database, relay } = relayHarness(start);

  test('publishes a row that commits seconds late before those that waited for it, and one that is replayed', async () => {
    const published: string[] = [];
    const publish: Bus['publish'] = async (service, events) => {
      await bus().publish(service, events);
      published.push(...events.map((event) => titleOf(event) ?? ''));
    };
    const { wake } = relay({ publish });
    const othersPass = (ms: number) => {
      const end = Date.now() + ms;
      return eventually(async () => {
        await emitTask(database().pool, 'slow other');
        wake();
        return Date.now() > end;
      });
    };
    const client = await database().pool.connect();
    await client.query('BEGIN');
    await emitTask(client, 'slow first');
    await othersPass(3_500);
    await client.query('COMMIT');
    client.release();
    await emitTask(database().pool, 'slow second');
    wake();
    await eventually(() => published.includes('slow second'));
    expect(published.filter((title) => title !== 'slow other')).toEqual(['slow first', 'slow second']);
    await othersPass(2_500);
    await database().pool.query(
      "UPDATE bus.outbox SET published_at = NULL WHERE payload->>'title' = 'slow first' AND published_at IS NOT NULL",
    );
    await eventually(() => published.filter((title) => title === 'slow first').length === 2);
  });

  test('refills a broker with more than a batch as fast as it published it', async () => {
    let published = 0;
    relay({
      publish: async (_service, events) => {
        published += events.length;
      },
    });
    await database().pool.query(
      `INSERT INTO bus.outbox (id, type, audience, payload)
        SELECT gen_random_uuid(), 'task.created', '{}', $1::jsonb FROM generate_series(1, 3000)`,
      [JSON.stringify(taskPayload('refill'))],
    );
    await eventually(() => published === 3_000);
    // Scans begin behind them after two further full scans.
    const settled = Date.now() + 3_500;
    await eventually(() => Date.now() > settled);
    const refilled = performance.now();
    await database().pool.query('UPDATE bus.outbox SET published_at = NULL');
    await eventually(() => published === 6_000, { timeoutMs: 10_000 });
    expect(performance.now() - refilled).toBeLessThan(4_000);
  });
}
