import { type TestClock, testClock } from '@acsp/testkit';
import { agent, startTasks, type Tasks } from './harness.js';
import { nowhere, type Steps, statuses, stepsOf, taskIn } from './steps.js';

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

interface Listed {
  readonly id: string;
  readonly status: string;
}

/** The ids of one page; every test lists the tasks of a creator of its own. */
const ids = async (query: string) => (await steps.list(bob, query)).body.tasks.map(({ id }: Listed) => id);
const by = ({ aid }: { aid: string }, query = '') => `created_by=${aid}&${query}`;

test('shows open root tasks, newest first, each with the fields of the interface', async () => {
  const ann = agent('Ann');
  const first = await steps.created(ann);
  clock.advance(1_000);
  const second = await steps.created(ann, {
    tags: ['rock'],
    requirements: ['scales'],
    deadline: '2030-01-01T00:00:00Z',
  });
  await steps.delegate(ann, first);
  await taskIn(steps, 'claimed', { creator: ann, worker: bob });
  const { status, body } = await steps.list(bob);
  expect(status).toBe(200);
  expect(body).toMatchObject({ total: 2, has_more: false, tasks: [{ id: second }, { id: first, subtasks_count: 1 }] });
  const { task } = (await steps.details(bob, second)).body;
  const names = Object.keys(body.tasks[0]);
  expect(names.sort().join(' ')).toBe(
    'assigned_aid claims_count created_at creator_aid creator_name deadline description expires_at id parent_id priority requirements ' +
      'status subtasks_count tags title',
  );
  expect(body.tasks[0]).toEqual(Object.fromEntries(names.map((name) => [name, task[name]])));
});

test('filters by each status, and by several at once', async () => {
  const creator = agent('Ann');
  const made: Record<string, string> = {};
  for (const status of statuses) made[status] = await taskIn(steps, status, { creator, worker: bob });
  for (const status of statuses) expect(await ids(by(creator, `status=${status}`))).toEqual([made[status]]);
  const two = await ids(by(creator, 'status=failed,done'));
  expect(two.sort()).toEqual([made.done, made.failed].sort());
  const all = await steps.list(bob, by(creator, `status=${statuses.join(',')},expired`));
  expect(all.body.total).toBe(statuses.length);
});

test('counts a task as expired from the moment it has run out, before the sweep', async () => {
  const creator = agent('Ann');
  const fields = { creator, worker: bob, ttl_minutes: 10 };
  const made: Record<string, string> = {};
  for (const status of ['open', 'claimed', 'in_progress', 'review'] as const) {
    made[status] = await taskIn(steps, status, fields);
  }
  const lasting = await steps.created(creator, { ttl_minutes: 11 });
  clock.advance(10 * 60_000);
  expect(await ids(by(creator))).toEqual([lasting]);
  expect(await ids(by(creator, 'status=claimed'))).toEqual([]);
  expect((await ids(by(creator, 'status=expired'))).sort()).toEqual([made.open, made.claimed].sort());
  expect((await ids(by(creator, 'status=in_progress,review'))).sort()).toEqual([made.in_progress, made.review].sort());
  const { body } = await steps.list(bob, by(creator, 'status=open,expired'));
  expect(body.total).toBe(3);
  expect(body.tasks.map(({ status }: Listed) => status).sort()).toEqual(['expired', 'expired', 'open']);
});

test('filters by priority, parent, creator, assignee and workspace, and by all of them together', async () => {
  const [ann, eve] = [agent('Ann'), agent('Eve')];
  const workspace_id = '019a0000-0000-7000-8000-00000000000a';
  const parent = await steps.created(ann, { workspace_id });
  const child = (await steps.delegate(ann, parent, { priority: 'high' })).body.task.id;
  const other = (await steps.delegate(ann, parent)).body.task.id;
  const urgent = await steps.created(ann, { priority: 'urgent' });
  await steps.claim(eve, child);
  expect(await ids(by(ann, 'priority=urgent'))).toEqual([urgent]);
  expect(await ids(`parent_id=${parent}`)).toEqual([other]);
  expect(await ids(`parent_id=${parent}&status=claimed`)).toEqual([child]);
  expect(await ids(`workspace_id=${workspace_id}`)).toEqual([parent]);
  expect(await ids(`assigned_to=${eve.aid}`)).toEqual([]);
  const every = `${by(ann, `parent_id=${parent}&workspace_id=${workspace_id}`)}&assigned_to=${eve.aid}&status=claimed`;
  expect(await ids(`${every}&priority=high`)).toEqual([child]);
  expect(await ids(`${every}&priority=low`)).toEqual([]);
});

test('sorts by creation, priority or deadline, ties by id, and tasks without a deadline last', async () => {
  const ann = agent('Ann');
  const deadlines = ['2031-01-01T00:00:00Z', undefined, '2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z', undefined];
  const priorities = ['low', 'urgent', 'normal', 'high', 'urgent'];
  const made: string[] = [];
  for (const [i, deadline] of deadlines.entries()) {
    if (i === 3) clock.advance(1_000);
    made.push(await steps.created(ann, { deadline, priority: priorities[i] }));
  }
  const [a, b, c, d, e] = made;
  expect(await ids(by(ann))).toEqual([...[d, e].sort(), ...[a, b, c].sort()]);
  expect(await ids(by(ann, 'sort=created_at'))).toEqual(await ids(by(ann)));
  expect(await ids(by(ann, 'sort=priority'))).toEqual([...[b, e].sort(), d, c, a]);
  expect(await ids(by(ann, 'sort=deadline'))).toEqual([...[c, d].sort(), a, ...[b, e].sort()]);
});

test('gives every task on exactly one page, and says where the last one is', async () => {
  const ann = agent('Ann');
  for (let i = 0; i < 5; i += 1) await steps.created(ann);
  const pages = await Promise.all([0, 2, 4].map((offset) => steps.list(bob, by(ann, `limit=2&offset=${offset}`))));
  expect(pages.map(({ body }) => [body.tasks.length, body.total, body.has_more])).toEqual([
    [2, 5, true],
    [2, 5, true],
    [1, 5, false],
  ]);
  expect(new Set(pages.flatMap(({ body }) => body.tasks.map(({ id }: Listed) => id))).size).toBe(5);
  expect((await steps.list(bob, by(ann, 'limit=5'))).body.has_more).toBe(false);
  const none = { tasks: [], has_more: false, next_cursor: null };
  expect((await steps.list(bob, by(ann, 'offset=50'))).body).toEqual({ ...none, total: 5 });
  expect((await steps.list(bob, by(agent('Nobody')))).body).toEqual({ ...none, total: 0 });
});

test('whoever lists after a write sees it, in the page and in the total, however many list at the same time', async () => {
  const ann = agent('Ann');
  const list = () => steps.list(bob, by(ann, 'limit=1'));
  for (let written = 1; written <= 10; written += 1) {
    const before = [list(), list(), list()];
    clock.advance(1);
    const id = await steps.created(ann);
    const after = await Promise.all([list(), list()]);
    for (const { body } of after) expect([body.tasks[0].id, body.total]).toEqual([id, written]);
    for (const { body } of await Promise.all(before)) expect([written - 1, written]).toContain(body.total);
  }
});

test('counts every task of a long list, on whatever page', async () => {
  const ann = agent('Ann');
  await tasks.context.database.prisma.$executeRaw`
    INSERT INTO task (id, creator_aid, creator_name, title, description, ttl_minutes, expires_at, created_at)
    SELECT gen_random_uuid(), ${ann.aid}, 'Ann', 'Stone ' || n, 'Count it', 10, ${clock.now()}::timestamptz + interval '1 day', ${clock.now()}::timestamptz
    FROM generate_series(1, 260) AS n`;
  const page = async (query: string) => {
    const { tasks: found, next_cursor: _, ...rest } = (await steps.list(bob, by(ann, query))).body;
    return { found: found.length, ...rest };
  };
  expect(await page('')).toEqual({ found: 20, total: 260, has_more: true });
  expect(await page('limit=100&offset=160')).toEqual({ found: 100, total: 260, has_more: false });
  expect(await page('limit=100&offset=159')).toEqual({ found: 100, total: 260, has_more: true });
  expect(await page('offset=1000')).toEqual({ found: 0, total: 260, has_more: false });
});

test.each([
  ['INVALID_FIELD', 'status=lost'],
  ['INVALID_FIELD', 'status='],
  ['INVALID_FIELD', 'status=open,,done'],
  ['INVALID_FIELD', 'status=constructor'],
  ['INVALID_FIELD', 'priority=huge'],
  ['INVALID_PARENT_ID', 'parent_id=root'],
  ['INVALID_AID', 'created_by=ann'],
  ['INVALID_AID', 'assigned_to=F'],
  ['INVALID_WORKSPACE_ID', `workspace_id=ws_${nowhere}`],
  ['INVALID_FIELD', 'sort=title'],
  ['INVALID_FIELD', 'limit=0'],
  ['INVALID_FIELD', 'limit=101'],
  ['INVALID_FIELD', 'limit=ten'],
  ['INVALID_FIELD', 'limit='],
  ['INVALID_FIELD', 'offset=-1'],
  ['INVALID_FIELD', 'offset=1.5'],
  ['INVALID_FIELD', 'offset=10001'],
  ['INVALID_AID', 'aid=bob'],
])('refuses with %s: %s', async (code, query) => {
  expect(await steps.list(bob, query)).toMatchObject({ status: 400, body: { code } });
});

test('refuses a caller without a principal, and an aid that is not the caller', async () => {
  const nobody = await tasks.call(undefined, 'GET /tasks');
  expect(nobody).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  const other = await steps.list(bob, `aid=${agent('Eve').aid}`);
  expect(other).toMatchObject({ status: 403, body: { code: 'AID_MISMATCH' } });
  expect((await steps.list(bob, `aid=${bob.aid}`)).status).toBe(200);
});
