import { quietLog as log, type TestDatabase, testDatabase } from '@acsp/testkit';
import pg from 'pg';
import { pageStatements } from '../src/embedded/feed.js';
import { embeddedBus } from '../src/index.js';

// A page reads as many rows as it has, however long the feeds are.

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

test.each(cases)('%s', async (name, values) => {
  const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${pageStatements[name]}`;
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain, values);
  const scans = nodesOf(rows[0]?.['QUERY PLAN'][0].Plan as Plan).filter((node) => node['Relation Name'] === 'feed');
  expect(scans.length).toBeGreaterThan(0);
  for (const scan of scans) expect(scan).toMatchObject({ 'Node Type': expect.stringContaining('Index') });
  expect(Math.max(...scans.map((scan) => scan['Actual Rows']))).toBeLessThanOrEqual(500);
});
