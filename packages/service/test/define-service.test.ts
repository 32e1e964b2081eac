import { once } from 'node:events';
import { createPrincipals } from '@acsp/operation';
import {
  agent,
  compareSchema,
  eventually,
  principalSecret,
  spawnSource,
  startService,
  type TestDatabase,
  testDatabase,
} from '@acsp/testkit';
import pg from 'pg';
import { ConfigError, createHealth, createLogger, defineService, loadConfig } from '../src/index.js';
import { PrismaClient } from './generated/prisma/client.js';
import { TrialService } from './generated/proto/acsp/trial/v1/trial_pb.js';
import { operations } from './trial/operations.js';
import { trial } from './trial/service.js';

const ann = agent('Ann');
let database: TestDatabase;

beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database[Symbol.asyncDispose]());

async function query(text: string, url = database.url): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const environment = (url: string) => ({
  DATABASE_URL: url,
  PRINCIPAL_SECRET: principalSecret,
  HOST: '127.0.0.1',
  HTTP_PORT: '0',
  GRPC_PORT: '0',
});
const runtime = (env: Record<string, string>) => ({
  config: loadConfig(trial.config, env),
  log: createLogger({ name: 'trial', level: 'silent' }),
  health: createHealth(),
});

test('a service comes up while its database is away, answers 503, and is ready when it is there', async () => {
  const url = new URL(database.url);
  url.pathname += '_late';
  const service = await startService(trial, { databaseUrl: url.href, migrated: false });
  try {
    expect(await service.call(ann, 'POST /notes', { text: 'a' })).toMatchObject({ status: 503 });
    expect(await service.health.ready()).toMatchObject({ ready: false });
    await query(`CREATE DATABASE ${url.pathname.slice(1)} TEMPLATE template0`);
    await service.running.migrated;
    await eventually(async () => (await service.health.ready()).ready);
    expect(await service.call(ann, 'POST /notes', { text: 'a' })).toMatchObject({ status: 201 });
  } finally {
    await service[Symbol.asyncDispose]();
    await query(`DROP DATABASE IF EXISTS ${url.pathname.slice(1)} WITH (FORCE)`);
  }
});

test('a service without a broker does not start', async () => {
  await expect(trial.start(runtime(environment(database.url)))).rejects.toThrow(
    new ConfigError(['NATS_URL is not set']),
  );
});

test('a service whose port is taken closes what it had opened', async () => {
  const service = await startService(trial, { databaseUrl: database.url });
  const { port } = new URL(service.url);
  const second = startService(trial, { databaseUrl: database.url, env: { HTTP_PORT: port } });
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await service[Symbol.asyncDispose]();
  const left = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  await eventually(async () => (await query(left)).length === 0);
});

test.each(['192.0.2.1', 'no-such-host.invalid'])(
  'a service names HOST=%s, which is none of this machine',
  async (HOST) => {
    const env = { HOST };
    await expect(startService(trial, { databaseUrl: database.url, env })).rejects.toThrow(/: HOST is wrong \(.*\)\.$/);
  },
);

test('of several secrets each is accepted, and the first signs', async () => {
  const [old, next] = ['old'.repeat(12), 'new'.repeat(12)] as const;
  const service = await startService(trial, { databaseUrl: database.url, env: { PRINCIPAL_SECRET: `${next},${old}` } });
  const rpc = 'acsp.trial.v1.TrialService/CountNotes';
  const status = async (...secrets: string[]) => {
    const headers = { 'acsp-principal': createPrincipals(secrets).sign({ ...ann, rpc }) };
    return (await fetch(`${service.url}/`, { method: 'POST', body: '{}', headers })).status;
  };
  expect([await status(old), await status(next), await status('x')]).toEqual([200, 200, 401]);
  expect(createPrincipals([next]).verify(service.principals.sign(ann))).toMatchObject({ aid: ann.aid });
  await service[Symbol.asyncDispose]();
});

test.each(['short', `${'x'.repeat(32)},short`, ','])(
  'a secret that is too short, or none, is refused: %s',
  (secret) => {
    const env = { ...environment('postgres://x'), PRINCIPAL_SECRET: secret };
    expect(() => loadConfig(trial.config, env)).toThrow(/^Wrong configuration: PRINCIPAL_SECRET is wrong/);
  },
);

describe('the tables', () => {
  const schema = new URL('schema.prisma', import.meta.url);

  test('are those of the schema', async () => {
    await using service = await startService(trial, { databaseUrl: database.url });
    expect(await compareSchema(schema, service.databaseUrl)).toEqual([]);
  });

  test('differ where a migration or the schema was forgotten', async () => {
    await using service = await startService(trial, { databaseUrl: database.url });
    await query(`ALTER TABLE note ALTER text TYPE varchar(9), ADD more int NOT NULL DEFAULT 0, DROP CONSTRAINT note_text_key,
      DROP CONSTRAINT note_pkey, ALTER id DROP NOT NULL; CREATE TYPE colour AS ENUM ('red', 'blue'); CREATE TABLE other (id int PRIMARY KEY)`);
    expect((await compareSchema(schema, service.databaseUrl)).sort()).toEqual([
      ...[
        'database: PRIMARY KEY other (id)',
        'database: column note.id uuid null',
        'database: column note.more integer default',
      ],
      ...['database: column note.text character varying(9)', 'database: column other.id integer'],
      ...['database: enum colour red,blue', 'database: table other', 'schema: PRIMARY KEY note (id)'],
      ...['schema: UNIQUE note (text)', 'schema: column note.id uuid', 'schema: column note.text text'],
    ]);
  });
});

describe('node main.js migrate', () => {
  async function migrate(env: Record<string, string>) {
    const program = new URL('child/trial.ts', import.meta.url);
    const child = spawnSource(program, ['migrate'], { env: { PATH: process.env.PATH, ...env } });
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    const [code] = await once(child, 'close');
    return { code, said };
  }

  test('applies the migrations and ends with 0', async () => {
    expect(await migrate(environment(database.url))).toEqual({ code: 0, said: '' });
    expect(await query('SELECT FROM note')).toEqual([]);
    expect(await query('SELECT FROM bus.outbox')).toEqual([]);
    expect(await query('SELECT FROM idempotency.answer')).toEqual([]);
    expect(await migrate(environment(database.url))).toEqual({ code: 0, said: '' });
  });

  test('ends with 1 and a sentence where a migration is wrong', async () => {
    await query('CREATE TABLE note (id int)');
    const { code, said } = await migrate(environment(database.url));
    expect(code).toBe(1);
    expect(said).toMatch(
      /^trial could not start: Migration 20261128000000_notes failed: relation "note" already exists\.\n$/,
    );
  });

  test('is what a process waits for that does not migrate itself', async () => {
    const service = await startService(trial, {
      databaseUrl: database.url,
      env: { MIGRATE: 'false' },
      migrated: false,
    });
    expect(await service.health.ready()).toMatchObject({ ready: false });
    await migrate(environment(database.url));
    await service.running.migrated;
    await eventually(async () => (await service.health.ready()).ready);
    await service[Symbol.asyncDispose]();
  });
});

describe('background work', () => {
  /** Work that takes several times as long as a job waits between its runs. */
  const roundTrips = async (count: number) => {
    for (let trip = 0; trip < count; trip++) await query('SELECT');
  };

  const counted = (run: () => Promise<void>) =>
    defineService({
      ...{ name: 'trial', contract: TrialService, events: {}, config: {}, migrations: trial.migrations, operations },
      client: PrismaClient,
      context: () => ({}) as never,
      background: () => ({ jobs: [{ name: 'counting', everyMs: 10, run }] }),
    });

  test('runs again and again, in one replica at a time, and not after the end', async () => {
    let [runs, running, most] = [0, 0, 0];
    const service = counted(async () => {
      runs += 1;
      running += 1;
      most = Math.max(most, running);
      await roundTrips(3);
      running -= 1;
    });
    const replicas = [
      await startService(service, { databaseUrl: database.url }),
      await startService(service, { databaseUrl: database.url }),
    ];
    await eventually(() => runs >= 6);
    for (const replica of replicas) await replica[Symbol.asyncDispose]();
    const ended = runs;
    await roundTrips(10);
    expect({ most, running, more: runs - ended }).toEqual({ most: 1, running: 0, more: 0 });
  });
});
