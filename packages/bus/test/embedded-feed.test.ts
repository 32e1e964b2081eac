import { newId } from '@acsp/database';
import { eventually, quietLog as log, type TestDatabase, testDatabase } from '@acsp/testkit';
import pg from 'pg';
import { pageStatements } from '../src/embedded/feed.js';
import { embeddedBus } from '../src/index.js';

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
