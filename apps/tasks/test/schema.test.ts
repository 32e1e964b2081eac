import { compareSchema } from '@acsp/testkit';
import { startTasks } from './harness.js';

test('schema.prisma, the generated client and the migrated tables are the same', async () => {
  await using tasks = await startTasks();
  expect(await compareSchema(new URL('../prisma/schema.prisma', import.meta.url), tasks.databaseUrl)).toEqual([]);
});
