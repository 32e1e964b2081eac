import { compareSchema } from '@acsp/testkit';
import { startIdentity } from './harness.js';

test('the tables are those of schema.prisma, and the generated client is too', async () => {
  await using identity = await startIdentity();
  expect(await compareSchema(new URL('../prisma/schema.prisma', import.meta.url), identity.databaseUrl)).toEqual([]);
});
