import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { serverUrl } from './servers.js';

export interface TestDatabase extends AsyncDisposable {
  url: string;
}

/** A new, empty database on the run's PostgreSQL, for one test file. It is dropped at the end, whoever is still connected. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = serverUrl('postgres');
  const name = `test_${randomBytes(8).toString('hex')}`;
  // template0 because nobody can be connected to it: a template with a visitor can't be copied.
  await execute(server, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function execute(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
