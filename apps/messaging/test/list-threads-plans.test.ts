import { statuses } from '../src/thread/decide.js';
import { type List, listQuery } from '../src/thread/list-query.js';
import { type Messaging, startMessaging } from './harness.js';

let messaging: Messaging;
const busy = 'b'.repeat(50);
const limit = 20;

/** Every fifth of 50,000 threads is of one agent, on either side, in every status; of the live ones every fiftieth has run out. */
beforeAll(async () => {
  messaging = await startMessaging();
  const { pool } = messaging.context.database;
  await pool.query(
    `INSERT INTO thread (id, initiator_aid, responder_aid, initial_offer, status, ttl_hours, created_at, updated_at, expires_at)
     SELECT gen_random_uuid(), CASE n % 10 WHEN 0 THEN $1 ELSE 'i' || n % 1000 END, CASE n % 10 WHEN 5 THEN $1 ELSE 'r' || n % 1000 END, '{}',
       (ARRAY['open', 'negotiating', 'agreed', 'rejected', 'expired', 'closed'])[n / 10 % 6 + 1]::thread_status, 72,
       now() - make_interval(secs => n), now(), now() + make_interval(hours => CASE n / 60 % 50 WHEN 0 THEN -1 ELSE 1 END)
     FROM generate_series(1, 50000) AS n`,
    [busy],
  );
  await pool.query('VACUUM ANALYZE thread');
}, 60_000);
afterAll(() => messaging[Symbol.asyncDispose]());

interface Plan {
  readonly 'Node Type': string;
  readonly 'Parent Relationship'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly Plans?: readonly Plan[];
}

/** The nodes of the page and those of the count, made for these values as at first, or for any as later. */
async function plansOf(status: (typeof statuses)[number] | undefined, mode: string, after?: List['after']) {
  const { text, values } = listQuery({ aid: busy, status, limit, after, now: new Date() });
  const client = await messaging.context.database.pool.connect();
  try {
    await client.query(`SET plan_cache_mode = ${mode}`);
    await client.query(`PREPARE list AS ${text}`);
    const literals = values.map((value) =>
      client.escapeLiteral(value instanceof Date ? value.toISOString() : `${value}`),
    );
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE list (${literals})`);
    const root: Plan = rows[0]['QUERY PLAN'][0].Plan;
    const isCount = (plan: Plan) => plan['Parent Relationship'] === 'InitPlan';
    const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).filter((one) => !isCount(one)).flatMap(nodes)];
    const counts = (plan: Plan): Plan[] =>
      (plan.Plans ?? []).flatMap((one) => (isCount(one) ? nodes(one) : counts(one)));
    return { page: nodes(root), count: counts(root) };
  } finally {
    client.release(true);
  }
}

describe.each(['force_custom_plan', 'force_generic_plan'])('of 50,000 threads, %s', (mode) => {
  test.each([undefined, ...statuses])(
    'a page reads what it shows, by the indexes of both sides: %s',
    async (status) => {
      const { page, count } = await plansOf(status, mode);
      expect(page.map((node) => node['Node Type'])).not.toContain('Seq Scan');
      expect(page.map((node) => node['Index Name'])).toEqual(
        expect.arrayContaining(['thread_initiated_idx', 'thread_received_idx']),
      );
      // Those that ran out since the last sweep are sorted.
      const most = status === 'expired' ? 50 : limit + 1;
      expect(Math.max(...page.map((node) => node['Actual Rows']))).toBeLessThanOrEqual(most);
      expect(count.length).toBeGreaterThan(0);
      expect(count.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    },
  );

  test('a page behind a cursor reads no more than the first', async () => {
    const after = { created_at: new Date(Date.now() - 20_000_000), id: '00000000-0000-7000-8000-000000000000' };
    const { page } = await plansOf(undefined, mode, after);
    expect(page.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    expect(Math.max(...page.map((node) => node['Actual Rows']))).toBeLessThanOrEqual(limit + 1);
  });
});

test('totals of all statuses add up to that of the list without a filter', async () => {
  const totalOf = async (status?: string) => {
    const query = status === undefined ? '' : `?status=${status}`;
    const caller = { aid: busy, name: 'Busy', via: 'signature', requestId: 'test' } as const;
    return (await messaging.call(caller, `GET /threads${query}`)).body.total;
  };
  const totals = await Promise.all(statuses.map(totalOf));
  expect(Math.min(...totals)).toBeGreaterThan(1_000);
  expect([totals.reduce((sum, total) => sum + total), await totalOf()]).toEqual([10_000, 10_000]);
});
