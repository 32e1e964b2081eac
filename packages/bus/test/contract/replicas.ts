import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { eventually } from '@acsp/testkit';
import type { Consumer } from '../../src/index.js';
import { ackWaitMs } from '../brokers.js';
import { taskEvent, taskEvents, titleOf } from '../task-event.js';
import type { Harness } from './harness.js';

const orders = ['strict', 'parallel'] as const;

export function sharesWork({ name, replica, spawnConsumer, failedRows, query }: Harness): void {
  test.each(orders)('%s: killed in the middle of a handler, the event comes again with its attempts', async (order) => {
    const child = spawnConsumer(order);
    const lines: string[] = [];
    createInterface({ input: child.stdout as Readable }).on('line', (line) => lines.push(line));
    const { bus, consume } = replica();
    await eventually(() => bus.publish(name(), [taskEvent('in hand')]));
    await eventually(() => lines.length === 3, { timeoutMs: 10_000 });
    expect(await failedRows()).toMatchObject([{ attempts: 2 }]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The lease of a retry is a minute, which a test does not wait for.
    await query(`UPDATE bus.failed_event SET due_at = now() WHERE state = 'waiting'`);
    const attempts: number[] = [];
    consume({ order, handle: async (_event, { attempt }) => void attempts.push(attempt) });
    await eventually(() => attempts.length > 0, { timeoutMs: 10_000 });
    expect(attempts).toEqual([3]);
    await eventually(async () => (await failedRows()).length === 0);
  });

  test.each(orders)(
    '%s: a handler that stands still longer than the acknowledgement time gets no event twice',
    async (order) => {
      const replicas = [replica(), replica()];
      const handled: string[] = [];
      let standing = 0;
      const handle: Consumer['handle'] = async (event) => {
        handled.push(titleOf(event) ?? '?');
        if (standing > 0) return;
        standing = Date.now();
        await eventually(() => Date.now() - standing > 1.5 * ackWaitMs);
      };
      await replicas[0]?.bus.publish(name(), taskEvents(10));
      for (const { consume } of replicas) consume({ order, handle });
      await eventually(() => handled.length >= 10 && Date.now() - standing > 2 * ackWaitMs, { timeoutMs: 10_000 });
      expect(handled.sort()).toEqual(taskEvents(10).map(titleOf));
    },
  );

  test('strict: of two replicas one works at a time, and every event is handled once and in order', async () => {
    const replicas = [replica(), replica()];
    const handled: string[] = [];
    let [active, most] = [0, 0];
    const handle: Consumer['handle'] = async (event) => {
      most = Math.max(most, ++active);
      handled.push(titleOf(event) ?? '?');
      await new Promise(setImmediate);
      active -= 1;
    };
    for (const { consume } of replicas) consume({ order: 'strict', handle });
    for (const [index, { bus }] of replicas.entries()) await bus.publish(name(), taskEvents(100, `${index}.`));
    await eventually(() => handled.length >= 200);
    expect(most).toBe(1);
    expect(handled).toEqual([...taskEvents(100, '0.'), ...taskEvents(100, '1.')].map(titleOf));
  });

  test('strict: a replica takes over when the connection of the leader is killed, but not before its handler has ended', async () => {
    const holder = async () => {
      const [row] = await query<{ pid: number; application_name: string }>(`SELECT pid, application_name
        FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND datname = current_database()`);
      return row;
    };
    const active = new Set<string>();
    const handled: [string, number, number][] = [];
    const handle =
      (who: string): Consumer['handle'] =>
      async (event, { attempt, signal }) => {
        active.add(who);
        handled.push([who, attempt, active.size]);
        if (who === 'leader') {
          await once(signal, 'abort');
          // The lock has passed on while this handler still runs.
          await eventually(async () => (await holder())?.application_name === 'standby');
          active.delete(who);
          throw new Error(`${titleOf(event)} was interrupted`);
        }
        active.delete(who);
      };
    const [leader, standby] = [replica('leader'), replica('standby')];
    leader.consume({ order: 'strict', handle: handle('leader') });
    await leader.bus.publish(name(), [taskEvent('any')]);
    await eventually(() => active.has('leader'));
    // Migrating takes an advisory lock too.
    await standby.database.migrated;
    standby.consume({ order: 'strict', handle: handle('standby') });
    await query('SELECT pg_terminate_backend($1)', [(await holder())?.pid]);
    await eventually(() => handled.length === 2);
    expect(handled).toEqual([
      ['leader', 1, 1],
      ['standby', 1, 1],
    ]);
  });

  test('strict: a replayed dead letter waits for its turn', async () => {
    const { bus, consume } = replica();
    let [active, most, failing] = [0, 0, true];
    const handled: string[] = [];
    let release = () => {};
    consume({
      order: 'strict',
      maxAttempts: 1,
      async handle(event) {
        if (failing) throw new Error('not now');
        most = Math.max(most, ++active);
        if (titleOf(event) === 'slow')
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        handled.push(titleOf(event) ?? '?');
        active -= 1;
      },
    });
    await bus.publish(name(), [taskEvent('dead')]);
    await eventually(async () => expect(await failedRows()).toMatchObject([{ state: 'dead' }]));
    failing = false;
    await bus.publish(name(), [taskEvent('slow')]);
    await eventually(() => active === 1);
    await query(`UPDATE bus.failed_event SET state = 'waiting', attempts = 0, due_at = now() WHERE consumer = $1`, [
      name(),
    ]);
    release();
    await eventually(() => handled.length === 2, { timeoutMs: 10_000 });
    expect([handled, most]).toEqual([['slow', 'dead'], 1]);
    await eventually(async () => (await failedRows()).length === 0);
  });

  test.each(orders)('%s: when one of two replicas goes, the other one goes on', async (order) => {
    const [one, two] = [replica(), replica()];
    const [first, second] = [one.titles({ order }), two.titles({ order })];
    await one.bus.publish(name(), taskEvents(20, 'before'));
    await eventually(() => first.length + second.length >= 20);
    await one.stop();
    const before = first.length + second.length;
    await two.bus.publish(name(), taskEvents(20, 'after'));
    await eventually(() => second.filter((title) => title.startsWith('after')).length >= 20);
    expect(first.length + second.length).toBe(before + 20);
    expect(before).toBe(20);
  });
}

/** The embedded bus lets one replica follow at a time, whatever the order. */
export function worksInParallel({ name, replica }: Harness): void {
  test('parallel: both replicas work at the same time', async () => {
    const replicas = [replica(), replica()];
    const busy = new Set<number>();
    let both = false;
    for (const [index, { consume }] of replicas.entries()) {
      consume({
        order: 'parallel',
        async handle() {
          busy.add(index);
          await eventually(() => both || busy.size === 2);
          both = true;
        },
      });
    }
    await replicas[0]?.bus.publish(name(), taskEvents(20));
    await eventually(() => both);
  });
}
