import { fileURLToPath } from 'node:url';
import { openPostgres } from '@acsp/database';
import type { Service } from '@acsp/service';
import { testDatabase } from './database.js';
import { quietLog } from './log.js';
import { compareSchema } from './schema.js';

/** Registers the test that holds the schema.prisma of a service together with its migrations and its generated client. */
export function testSchema({ name, migrations }: Pick<Service, 'name' | 'migrations'>): void {
  test('schema.prisma, the generated client and the migrated tables are the same', async () => {
    await using database = await testDatabase();
    const sets = [{ directory: fileURLToPath(migrations) }];
    await using postgres = openPostgres({ url: database.url, name, migrations: sets, log: quietLog });
    await postgres.migrated;
    expect(await compareSchema(new URL('schema.prisma', migrations), database.url)).toEqual([]);
  });
}
