import { newId } from '@acsp/database';
import { eventually, quietLog as log, type TestDatabase, testDatabase } from '@acsp/testkit';
import { pause } from '@acsp/time';
import pg from 'pg';
import { pageStatements } from '../src/embedded/feed.js';
import { pollMs } from '../src/embedded/follow.js';
import { type Bus, embeddedBus } from '../src/index.js';
import { taskEvent, titleOf } from './task-event.js';

let server: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  server = await testDatabase();
  await using bus = embeddedBus({ databaseUrl: server.url, log });
  await bus.feed.latest(['global'], 1);
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`INSERT INTO bus.feed (feed, id, event, data, created_at)
    SELECT 'agent:' || n % 3, gen_random_uuid(), 'message', '{}', now() FROM generate_series(1, 60000) AS n`);
  await client.query('VACUUM ANALYZE bus.feed');
});
afterAll(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const feeds = ['agent:0', 'agent:1', 'agent:9'];
const cases: [keyof typeof pageStatements, unknown[]][] = [
  ['ofAll', [100]],
  ['ofFeeds', [feeds, 100, 50_000, 50]],
  ['newest', [feeds, 50]],
];

test.each(cases)('a page reads no more rows than it has, however long the feeds are: %s', async (name, values) => {
  const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${pageStatements[name]}`;
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain, values);
  const scans = nodesOf(rows[0]?.['QUERY PLAN'][0].Plan as Plan).filter((node) => node['Relation Name'] === 'feed');
  expect(scans.length).toBeGreaterThan(0);
  for (const scan of scans) expect(scan).toMatchObject({ 'Node Type': expect.stringContaining('Index') });
  expect(Math.max(...scans.map((scan) => scan['Actual Rows']))).toBeLessThanOrEqual(500);
});

test('what another process appends is heard in its place among what this one does', async () => {
  await using bus = embeddedBus({ databaseUrl: server.url, log });
  const heard: string[] = [];
  using _subscription = await bus.feed.subscribe('global', {
    onMessage: ({ data }) => heard.push(data),
    onGap: () => {},
  });
  const append = (data: string) =>
    bus.feed.append([{ feed: 'global', id: newId(), event: 'message', data, created_at: new Date() }]);
  const appendElsewhere = (data: string) =>
    client.query(
      `INSERT INTO bus.feed (feed, id, event, data, created_at) VALUES ('global', gen_random_uuid(), 'message', $1, now())`,
      [data],
    );
  await append('1');
  expect(heard).toEqual(['1']);
  await appendElsewhere('2');
  await append('3');
  await append('4');
  await eventually(() => heard.length >= 4);
  expect(heard).toEqual(['1', '2', '3', '4']);
  await appendElsewhere('5');
  await eventually(() => heard.length >= 5);
});

describe('a reader that is busy', () => {
  /** Reads on one bus, with pauses, and notes when each event has come. */
  async function reading(bus: Bus) {
    const at = new Map<string, number>();
    const ending = new AbortController();
    const done = bus.readFrom(
      undefined,
      async (events) => {
        await pause(5);
        for (const event of events) at.set(titleOf(event) ?? '', performance.now());
      },
      ending.signal,
    );
    const end = async () => {
      ending.abort();
      await done;
    };
    const newest = newId();
    await bus.publish('tasks', [taskEvent(newest)]);
    await eventually(() => at.has(newest));
    return { at, [Symbol.asyncDispose]: end };
  }

  test('gets what several publish at once before the next poll', async () => {
    await using bus = embeddedBus({ databaseUrl: server.url, log });
    await using read = await reading(bus);
    let latestMs = 0;
    for (let round = 0; round < 150; round += 1) {
      const begun = performance.now();
      const titles = [0, 1, 2, 3].map((each) => `${round} ${each}`);
      // One batch is larger, so that answers come in another order than commits.
      const publish = (title: string, each: number) =>
        bus.publish('tasks', [
          ...Array.from({ length: each === 0 ? 60 : 0 }, () => taskEvent('more')),
          taskEvent(title),
        ]);
      await Promise.all(titles.map(publish));
      await eventually(() => titles.every((title) => read.at.has(title)), { intervalMs: 2 });
      latestMs = Math.max(latestMs, ...titles.map((title) => (read.at.get(title) ?? 0) - begun));
    }
    expect(latestMs).toBeLessThan(pollMs);
  });

  test.each(['the same bus', 'another bus of the process'])(
    'gets what follows a duplicate on %s before the next poll',
    async (which) => {
      await using bus = embeddedBus({ databaseUrl: server.url, log });
      await using another = embeddedBus({ databaseUrl: server.url, log });
      const second = which === 'the same bus' ? bus : another;
      await using read = await reading(bus);
      const known = taskEvent('known');
      await second.publish('tasks', [known]);
      await bus.publish('tasks', [taskEvent('one')]);
      await second.publish('tasks', [known, taskEvent(which)]);
      const published = performance.now();
      await eventually(() => read.at.has(which));
      expect((read.at.get(which) ?? 0) - published).toBeLessThan(pollMs / 2);
    },
  );
});
