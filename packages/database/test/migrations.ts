import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestMigrations extends AsyncDisposable {
  readonly directory: string;
  write(name: string, sql: string): Promise<void>;
}

export async function testMigrations(scripts: Readonly<Record<string, string>>): Promise<TestMigrations> {
  const directory = await mkdtemp(join(tmpdir(), 'acsp-migrations-'));
  const write = async (name: string, sql: string) => {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, 'migration.sql'), sql);
  };
  for (const [name, sql] of Object.entries(scripts)) await write(name, sql);
  return { directory, write, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}
