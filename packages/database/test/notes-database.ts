import type { Log } from '@acsp/telemetry';
import { quietLog, type TestDatabase, testDatabase } from '@acsp/testkit';
import { type Database, openDatabase } from '../src/index.js';
import { PrismaClient } from './generated/client.js';
import { type TestMigrations, testMigrations } from './migrations.js';

/** A migrated database with the tables of schema.prisma. */
export interface NotesDatabase extends AsyncDisposable {
  readonly url: string;
  readonly database: Database<PrismaClient>;
  /** Another one of a single connection, on the same tables or elsewhere. */
  openOther(url?: string, log?: Log): Database<PrismaClient>;
}

const table = `CREATE TABLE notes (id serial PRIMARY KEY, text text NOT NULL UNIQUE, seen int NOT NULL DEFAULT 0,
  made_at timestamptz(3) NOT NULL DEFAULT now())`;

export async function notesDatabase(): Promise<NotesDatabase> {
  const server: TestDatabase = await testDatabase();
  const migrations: TestMigrations = await testMigrations({ '1_notes': table });
  const opened: Database<PrismaClient>[] = [];
  const open = (url: string, poolSize: number, log = quietLog) => {
    const sets = [{ directory: migrations.directory }];
    const database = openDatabase({ url, name: 'notes', poolSize, migrations: sets, client: PrismaClient, log });
    opened.push(database);
    return database;
  };
  const database = open(server.url, 4);
  await database.migrated;
  return {
    url: server.url,
    database,
    openOther: (url = server.url, log) => open(url, 1, log),
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each[Symbol.asyncDispose]();
      await migrations[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
