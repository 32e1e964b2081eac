import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A directory of `<timestamp>_<name>/migration.sql`, as Prisma lays them out. */
export interface MigrationSet {
  readonly directory: string;
  /** The schema that the set owns: created when absent, and the home of the set's own list of applied migrations. Absent for a service's migrations. */
  readonly schema?: string;
}

export interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

export interface LoadedSet {
  readonly schema: string | undefined;
  readonly table: string;
  readonly migrations: readonly Migration[];
}

export async function readMigrations({ directory, schema }: MigrationSet): Promise<LoadedSet> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const migrations = await Promise.all(names.sort().map((name) => readMigration(directory, name)));
  return { schema, table: schema === undefined ? '_prisma_migrations' : `${schema}._prisma_migrations`, migrations };
}

async function readMigration(directory: string, name: string): Promise<Migration> {
  const text = await readFile(join(directory, name, 'migration.sql'), 'utf8');
  // A checkout may have turned line ends into CRLF, which must not look like another migration.
  const sql = text.replaceAll('\r\n', '\n');
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}
