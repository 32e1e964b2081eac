import { testDatabase } from '@acsp/testkit';
import pg from 'pg';
import { agent, startTasks } from './harness.js';
import { stepsOf } from './steps.js';

const deadline = '9999-12-31T23:59:59.000Z';

test('R18: the time zone of a database changes no time, up to the last second of the year 9999', async () => {
  await using database = await testDatabase();
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET timezone = 'Europe/Berlin'`);
  await admin.end();
  await using tasks = await startTasks({ databaseUrl: database.url });
  const [steps, ann, bob] = [stepsOf(tasks), agent('Ann'), agent('Bob')];
  const parent = await steps.created(ann, { deadline });
  const child = (await steps.create(ann, { parent_id: parent, deadline: '9999-12-31T23:59:59Z' })).body.task;
  await steps.claim(bob, child.id);
  const { task, subtasks } = (await steps.details(ann, parent)).body;
  expect([task.deadline, subtasks[0].deadline]).toEqual([deadline, deadline]);
  const details = (await steps.details(ann, child.id)).body;
  expect(details.task).toMatchObject({ deadline, created_at: child.created_at, expires_at: child.expires_at });
  expect(details.claims[0].created_at).toBe(details.task.claimed_at);
  const listed = await steps.list(ann, `status=open,claimed&sort=deadline&created_by=${ann.aid}`);
  expect(listed.body.tasks).toMatchObject([{ id: parent, deadline, created_at: task.created_at }]);
});
