import { type TestDatabase, testDatabase } from '@acsp/testkit';
import pg from 'pg';
import { createScanStart } from '../src/scan-start.js';
import { emitTask, openOutbox } from './outbox.js';

let server: TestDatabase;
let client: pg.Client;
let other: pg.Pool;

beforeAll(async () => {
  server = await testDatabase();
  await using database = openOutbox(server.url);
  await database.migrated;
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
  other = new pg.Pool({ connectionString: server.url });
});
afterAll(async () => {
  await Promise.all([client.end(), other.end()]);
  await server[Symbol.asyncDispose]();
});

/** Scans at times of a clock of its own, which find everything and publish it up to a position. */
function scans() {
  const clock = { ms: 0 };
  const start = createScanStart(client, () => clock.ms);
  return async (ms: number, position?: string, isAll = true) => {
    clock.ms = ms;
    const from = await start.next();
    start.published(position === undefined ? [] : [position], isAll);
    return from;
  };
}

test('scans begin behind what was published two full scans ago, and each second one begins at 0', async () => {
  const scan = scans();
  expect(await scan(0, '10')).toBe('0');
  expect(await scan(10, '20')).toBe('0');
  expect(await scan(1_000, '30')).toBe('0');
  expect(await scan(1_010)).toBe('0');
  expect(await scan(2_000)).toBe('0');
  expect(await scan(2_010)).toBe('20');
  expect(await scan(3_000)).toBe('0');
  expect(await scan(3_010)).toBe('30');
});

test('scans begin no later while a transaction is open that may have a lower position', async () => {
  const scan = scans();
  const writer = await other.connect();
  await writer.query('BEGIN');
  await emitTask(writer, 'late');
  await scan(0, '10');
  for (const second of [1, 2, 3, 4]) {
    await scan(second * 1_000, '20');
    expect(await scan(second * 1_000 + 10)).toBe('0');
  }
  await writer.query('COMMIT');
  writer.release();
  await scan(5_000);
  expect(await scan(5_010)).toBe('20');
});

test('a full scan that did not find all moves nothing, and one that found replayed rows begins again at 0', async () => {
  const scan = scans();
  await scan(0, '10');
  await scan(1_000, '20');
  await scan(2_000, '500', false);
  expect(await scan(2_010)).toBe('0');
  await scan(3_000);
  await scan(4_000);
  expect(await scan(4_010)).toBe('500');
  await scan(5_000, '600', false);
  expect(await scan(5_010)).toBe('500');
  await scan(6_000, '7', false);
  expect(await scan(6_010)).toBe('0');
});
