import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LocalServerError, startPostgres } from '@acsp/local';
import pg from 'pg';

const directory = fileURLToPath(new URL('../../../.data/test', import.meta.url));

/**
 * A PostgreSQL for one run of the tests, without fsync. Its data directory is kept for the next run, because starting on one takes
 * 40 ms and making one 600. Runs at the same time take different ones.
 */
export async function startTestPostgres(source: string, binDir?: string): Promise<{ url: string } & AsyncDisposable> {
  for (let number = 0; ; number++) {
    const dataDir = join(directory, `postgres-${source}-${number}`);
    try {
      return await open(dataDir, binDir);
    } catch (error) {
      const reason = error instanceof LocalServerError ? error.reason : undefined;
      if (reason === 'BROKEN') {
        await rm(dataDir, { recursive: true, force: true });
        return open(dataDir, binDir);
      }
      if (reason !== 'IN_USE' || number === 20) throw error;
    }
  }
}

async function open(dataDir: string, binDir: string | undefined) {
  const postgres = await startPostgres({ dataDir, fsync: false, ...(binDir && { binDir }) });
  const url = postgres.url('postgres');
  await dropLeftovers(url);
  return { url, [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose]() };
}

/** Drops the databases that a killed run has left. */
async function dropLeftovers(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'",
    );
    for (const { datname } of rows) await client.query(`DROP DATABASE ${pg.escapeIdentifier(datname)} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}
