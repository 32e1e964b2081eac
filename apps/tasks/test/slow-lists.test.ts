import pg from 'pg';
import { agent, startTasks, type Tasks } from './harness.js';
import { type Steps, stepsOf } from './steps.js';

let tasks: Tasks;
let steps: Steps;
const [busy, bob] = [agent('Busy'), agent('Bob')];

/** Rows of the busy agent are read as slowly as the test wants: no faster than it gives an advisory lock back. */
const slowRows = `
  CREATE FUNCTION hold(aid text) RETURNS boolean LANGUAGE plpgsql COST 1000000 AS $$ BEGIN
    IF aid = '${busy.aid}' THEN PERFORM pg_advisory_xact_lock_shared(20); END IF;
    RETURN true;
  END $$;
  INSERT INTO task (id, creator_aid, creator_name, title, description, status, ttl_minutes, expires_at, created_at)
  SELECT gen_random_uuid(), '${busy.aid}', 'Busy', 'Stone', 'Count it', 'done', 1, now(), now() FROM generate_series(1, 30);
  ALTER TABLE task RENAME TO task_row;
  CREATE VIEW task AS SELECT * FROM task_row WHERE hold(creator_aid);`;

beforeAll(async () => {
  tasks = await startTasks();
  steps = stepsOf(tasks);
  await steps.created(bob);
  await tasks.context.database.pool.query(slowRows);
});
afterAll(() => tasks[Symbol.asyncDispose]());

async function holdSlowRows(): Promise<AsyncDisposable> {
  const holder = new pg.Client({ connectionString: tasks.databaseUrl });
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock(20)');
  return { [Symbol.asyncDispose]: () => holder.end() };
}

test('R20: twenty agents that read slow pages keep nobody else from the lists', async () => {
  await using holder = await holdSlowRows();
  const sorts = ['created_at', 'priority', 'deadline'];
  const slow = Array.from({ length: 20 }, (_, n) =>
    steps.list(agent(`Pager ${n}`), `created_by=${busy.aid}&status=done&sort=${sorts[n % 3]}&offset=${n}`),
  );
  for (let n = 0; n < 10; n += 1) {
    const { status, body } = await steps.list(bob, `limit=${n + 1}`);
    expect([status, body.total]).toEqual([200, 1]);
  }
  await holder[Symbol.asyncDispose]();
  for (const { status, headers, body } of await Promise.all(slow)) {
    if (status === 200) expect(body.total).toBe(30);
    else expect([status, headers.get('retry-after')]).toEqual([503, '2']);
  }
  expect((await steps.list(bob, `created_by=${busy.aid}&status=done`)).body.total).toBe(30);
});
