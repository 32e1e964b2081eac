import { type TestClock, testClock } from '@acsp/testkit';
import { cursorOf, type Sort, sorts } from '../src/task/list-order.js';
import { pageQuery } from '../src/task/list-query.js';
import { agent, startTasks, type Tasks } from './harness.js';
import { nowhere, type Steps, stepsOf } from './steps.js';

let tasks: Tasks;
let steps: Steps;
let clock: TestClock;
const bob = agent('Bob');

beforeAll(async () => {
  clock = testClock();
  tasks = await startTasks({ clock });
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

interface Page {
  readonly tasks: readonly { readonly id: string }[];
  readonly total: number;
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

async function pageOf(query: string): Promise<Page> {
  const { status, body } = await steps.list(bob, query);
  expect(status).toBe(200);
  return body;
}

/** Tasks of an agent, with several of each priority, deadline and time of creation. */
async function makeTasks(ann: typeof bob, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let n = 0; n < count; n += 1) {
    if (n % 5 === 0) clock.advance(1);
    const deadline = n % 3 === 0 ? null : `203${n % 4}-01-01T00:00:00.00${n % 2}Z`;
    made.push(await steps.created(ann, { priority: ['low', 'normal', 'high', 'urgent'][n % 4], deadline }));
  }
  return made;
}

describe.each(sorts)('a walk by cursor, sorted by %s', (sort) => {
  test('meets each task exactly once, in order, while others are created', async () => {
    const ann = agent('Ann');
    const made = await makeTasks(ann, 60);
    const query = `created_by=${ann.aid}&sort=${sort}`;
    const inOrder = (await pageOf(`${query}&limit=100`)).tasks.map(({ id }) => id);
    const met: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await pageOf(`${query}&limit=7${cursor && `&cursor=${cursor}`}`);
      met.push(...page.tasks.map(({ id }) => id));
      expect([page.has_more, page.total >= met.length]).toEqual([page.next_cursor !== null, true]);
      cursor = page.next_cursor;
      await makeTasks(ann, 3);
    }
    expect(new Set(met).size).toBe(met.length);
    expect(met.filter((id) => made.includes(id))).toEqual(inOrder);
  });

  test('goes over several statuses, and takes the place of offset', async () => {
    const ann = agent('Ann');
    const made = await makeTasks(ann, 12);
    for (const id of made.slice(0, 6)) await steps.update(ann, id, 'cancel');
    const query = `created_by=${ann.aid}&sort=${sort}&status=open,cancelled`;
    const all = await pageOf(query);
    const first = await pageOf(`${query}&limit=5`);
    const rest = await pageOf(`${query}&limit=50&offset=9&cursor=${first.next_cursor}`);
    expect([...first.tasks, ...rest.tasks]).toEqual(all.tasks);
    expect([first.total, rest.total, rest.next_cursor]).toEqual([12, 12, null]);
  });
});

const cursor = (...members: unknown[]) => Buffer.from(JSON.stringify(members)).toString('base64url');
const foreign = cursorOf('priority', { id: nowhere, priority: 'low', created_at: new Date(0), deadline: null });

test.each([
  ['nothing', ''],
  ['no JSON', 'x'],
  ['no list', Buffer.from('{}').toString('base64url')],
  ['one of another order', foreign],
  ['a priority that there is not', cursor('created_at', 'urgent', nowhere)],
  ['a day that there is not', cursor('created_at', '2026-02-30T00:00:00.000Z', nowhere)],
  ['a year that PostgreSQL has not', cursor('created_at', '0000-01-01T00:00:00.000Z', nowhere)],
  ['infinity', cursor('created_at', 'infinity', nowhere)],
  ['an id that is none', cursor('created_at', '2026-01-01T00:00:00.000Z', '42')],
  ['text without end', 'A'.repeat(201)],
])('refuses a cursor that holds %s', async (_what, text) => {
  const { status, body } = await steps.list(bob, `cursor=${text}`);
  expect([status, body.code, body.errors?.[0]?.field]).toEqual([400, 'INVALID_FIELD', 'cursor']);
});

describe('R20: deep pages of 50,000 tasks', () => {
  beforeAll(async () => {
    const { pool } = tasks.context.database;
    await pool.query(`
      INSERT INTO task (id, creator_aid, assigned_aid, workspace_id, creator_name, title, description, status, priority, deadline, ttl_minutes,
        expires_at, created_at)
      SELECT gen_random_uuid(), lpad((n % 5 * n % 1000)::text, 50, '0'), lpad((n % 5 * n % 1000)::text, 50, '0'),
        CASE WHEN n % 5 = 0 THEN '${nowhere}'::uuid END, 'Ann', 'Stone', 'Count it', CASE n % 10 WHEN 0 THEN 'failed' ELSE 'done' END::task_status,
        (ARRAY['low', 'normal', 'high', 'urgent'])[n % 4 + 1]::task_priority, CASE WHEN n % 2 = 0 THEN now() + make_interval(secs => n) END,
        1, now(), now() + make_interval(secs => n % 9000)
      FROM generate_series(1, 55000) AS n`);
    await pool.query('VACUUM ANALYZE task');
    // As it is once no transaction is older than these rows.
    await pool.query(`UPDATE pg_class SET relallvisible = relpages WHERE oid = 'task'::regclass`);
  }, 60_000);

  interface Plan {
    readonly 'Node Type': string;
    readonly 'Index Name'?: string;
    readonly 'Actual Rows': number;
    readonly Plans?: readonly Plan[];
  }

  /** The nodes that a page runs through, made for these values as at first, or for any as later. */
  async function plansOf(query: Parameters<typeof pageQuery>[0], mode: string): Promise<Plan[]> {
    const { text, values } = pageQuery(query, clock.now());
    const client = await tasks.context.database.pool.connect();
    try {
      await client.query(`SET plan_cache_mode = ${mode}`);
      await client.query(`PREPARE page AS ${text}`);
      const literals = values.map((value) =>
        client.escapeLiteral(value instanceof Date ? value.toISOString() : `${value}`),
      );
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page (${literals})`);
      const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
      return nodes(rows[0]['QUERY PLAN'][0].Plan);
    } finally {
      client.release(true);
    }
  }

  const page = (sort: Sort) => ({ status: 'done', sort, limit: 100, offset: 9_900 });
  const indexes = { created_at: 'task_newest_idx', priority: 'task_urgent_idx', deadline: 'task_soonest_idx' } as const;
  const modes = ['force_custom_plan', 'force_generic_plan'];

  describe.each(modes)('%s', (mode) => {
    test.each(sorts)('sorted by %s read their index as far as they reach, and sort nothing', async (sort) => {
      const nodes = await plansOf(page(sort), mode);
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
      expect(nodes.map((node) => node['Index Name'])).toContain(indexes[sort]);
      expect(Math.max(...nodes.map((node) => node['Actual Rows']))).toBeLessThanOrEqual(10_001);
    });

    test.each(sorts)('of several statuses, sorted by %s, merge what their index gives', async (sort) => {
      const nodes = await plansOf({ ...page(sort), status: 'done,failed' }, mode);
      expect(nodes.map((node) => node['Node Type'])).toContain('Merge Append');
      // The 5,500 that failed are all within reach, so that sorting them is as good.
      expect(Math.max(...nodes.map((node) => node['Actual Rows']))).toBeLessThanOrEqual(10_001);
    });

    test.each(sorts)(
      'of one agent, workspace or priority, sorted by %s, fetch no row that they only pass',
      async (sort) => {
        const busy = '0'.repeat(50);
        const filters = [
          { created_by: busy },
          { assigned_to: busy },
          { workspace_id: nowhere },
          { priority: 'low' },
        ] as const;
        for (const filter of filters) {
          const nodes = await plansOf({ ...page(sort), offset: 4_000, ...filter }, mode);
          const ranges = nodes.filter((node) => node['Index Name'] !== undefined && node['Index Name'] !== 'task_pkey');
          expect(ranges.map((node) => node['Node Type'])).toEqual(['Index Only Scan']);
        }
      },
    );

    test.each([
      ['created_at', ''],
      ['priority', 'low'],
      ['deadline', 'infinity'],
    ] as const)('behind a cursor, sorted by %s, read no more than themselves: %s', async (sort, priority) => {
      const task = { id: '80000000-0000-4000-8000-000000000000', created_at: new Date(), priority, deadline: null };
      const nodes = await plansOf({ ...page(sort), offset: 0, cursor: cursorOf(sort, task) }, mode);
      expect(nodes.map((node) => node['Index Name'])).toContain(indexes[sort]);
      expect(Math.max(...nodes.map((node) => node['Actual Rows']))).toBeLessThanOrEqual(101);
    });
  });

  test('answer like the first ones, and refuse what lies beyond 10,000', async () => {
    for (const sort of sorts) {
      const { tasks: found, total, has_more } = await pageOf(`status=done&sort=${sort}&limit=100&offset=9900`);
      expect([found.length, total, has_more]).toEqual([100, 49_500, true]);
    }
    expect((await pageOf('status=done&offset=10000&limit=1')).tasks).toHaveLength(1);
    const beyond = await steps.list(bob, 'status=done&offset=10001');
    expect(beyond).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', errors: [{ field: 'offset' }] } });
  });
});
