import { compareSchema, testDatabase } from '@acsp/testkit';
import { startTasks } from './harness.js';

test('every model is a table with the same columns, types, nullability and defaults, and the other way round', async () => {
  await using database = await testDatabase();
  await using _tasks = await startTasks({ databaseUrl: database.url });
  expect(await compareSchema(new URL('../prisma/schema.prisma', import.meta.url), database.url)).toEqual([]);
});
