import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../src/embedded-postgres.js';

export interface DataDirectory {
  /** The directory of the present test. */
  readonly path: string;
}

/** Gives each test of a file a data directory of its own, with a cluster in it. */
export function useDataDirectory(): DataDirectory {
  const directory = { path: '' };
  let root: string;
  let template: string;
  beforeAll(async () => {
    // A space and a quote: the path of a project may hold both.
    root = await mkdtemp(join(tmpdir(), "acsp it's a test-"));
    await chmod(root, 0o755);
    template = join(root, 'template');
    await using _ = await startPostgres({ dataDir: template, fsync: false });
  });
  beforeEach(() => {
    directory.path = join(root, randomUUID(), 'postgres');
    mkdirSync(dirname(directory.path));
    execFileSync('cp', ['-a', template, directory.path]);
  });
  afterAll(() => rm(root, { recursive: true, force: true }));
  return directory;
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
