import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import type { Postgres } from '@acsp/database';
import { eventually, quietLog as log, spawnSource, type TestDatabase, testDatabase } from '@acsp/testkit';
import { embeddedBus, startConsumer, startRelay } from '../src/index.js';
import { emitTask, openOutbox } from './outbox.js';
import { taskEvent, titleOf } from './task-event.js';

let server: TestDatabase;
let database: Postgres;

beforeAll(async () => {
  server = await testDatabase();
  database = openOutbox(server.url);
  await database.migrated;
});
beforeEach(() => database.pool.query('TRUNCATE bus.outbox, bus.failed_event'));
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function events(args: string, databaseUrl = server.url) {
  const file = new URL('../src/failed-events-command.ts', import.meta.url);
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const child = spawnSource(file, args.split(' ').filter(Boolean), { stdio: ['ignore', 'pipe', 'pipe'], env });
  const [out, error, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    once(child, 'exit'),
  ]);
  const lines = out
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'));
  return { code, error, lines, named: lines.map((columns) => columns.slice(0, 3)) };
}

async function deadLetter(consumer: string, state = 'dead'): Promise<string> {
  const id = randomUUID();
  await database.pool.query(
    `INSERT INTO bus.failed_event (consumer, event_id, type, event, state, attempts, error)
      VALUES ($1, $2, 'task.created', 'a secret payload', $3, 8, E'Error: no\\x1b[2J\\nat line 1')`,
    [consumer, id, state],
  );
  return id;
}

async function parkedEvent(): Promise<string> {
  const id = randomUUID();
  const payload = JSON.stringify({ title: 'a secret payload' });
  const values = [id, payload];
  await database.pool.query(
    `INSERT INTO bus.outbox (id, type, audience, payload, published_at) VALUES ($1, 'task.created', '{}', $2, 'infinity')`,
    values,
  );
  return id;
}

const ids = async (table: 'outbox' | 'failed_event') => {
  const column = table === 'outbox' ? 'id' : 'event_id';
  const { rows } = await database.pool.query<{ id: string }>(`SELECT ${column} AS id FROM bus.${table} ORDER BY 1`);
  return rows.map(({ id }) => id);
};

test('list prints dead letters and parked events, one a line, and no payload', async () => {
  const [dead, parked] = [await deadLetter('search-index'), await parkedEvent()];
  await deadLetter('search-index', 'waiting');
  await emitTask(database.pool, 'in good order');
  const { code, lines, error } = await events('-- list');
  expect(code).toBe(0);
  expect(lines).toEqual([
    ['dead', 'search-index', dead, 'task.created', expect.stringMatching(/Z$/), '8 attempts', 'Error: no'],
    ['parked', '-', parked, 'task.created', expect.stringMatching(/Z$/)],
  ]);
  expect(error).toBe('list: 2\n');
});

test('options narrow what is listed', async () => {
  const [one, two, parked] = [await deadLetter('one'), await deadLetter('two'), await parkedEvent()];
  const listed = async (args: string) => (await events(`list ${args}`)).lines.map(([, , id]) => id);
  expect(await listed('--consumer one')).toEqual([one]);
  expect(await listed(`--id ${two}`)).toEqual([two]);
  expect(await listed('--parked')).toEqual([parked]);
  expect(await listed('--consumer nobody')).toEqual([]);
});

test('drop deletes what was named and nothing else', async () => {
  const [one, two, parked] = [await deadLetter('one'), await deadLetter('two'), await parkedEvent()];
  const waiting = await deadLetter('one', 'waiting');
  expect(await events('drop --consumer one')).toMatchObject({ code: 0, named: [['dead', 'one', one]] });
  expect(await ids('failed_event')).toEqual([two, waiting].sort());
  expect(await events(`drop --id ${parked}`)).toMatchObject({ code: 0, named: [['parked', '-', parked]] });
  expect(await ids('outbox')).toEqual([]);
  expect(await events('drop --consumer one')).toMatchObject({ code: 1, lines: [] });
});

test('replay gives a dead letter to its consumer, and a parked event to the relay', async () => {
  await using busDatabase = await testDatabase();
  await using bus = embeddedBus({ databaseUrl: busDatabase.url, log });
  let healed = false;
  const handled: [string | undefined, number][] = [];
  const handle = async (event: Parameters<typeof titleOf>[0], { attempt }: { readonly attempt: number }) => {
    if (!healed) throw new Error('not yet');
    handled.push([titleOf(event), attempt]);
  };
  const consumer = { name: 'healing', subjects: ['acsp.tasks.>'], start: 'kept', order: 'strict' } as const;
  await using _ = startConsumer({ ...consumer, maxAttempts: 1, handle }, { database, bus, log });
  await using __ = startRelay({ database, bus, service: 'tasks', payloads: { task: TaskEventSchema }, log });
  const event = taskEvent('dead');
  await eventually(() => bus.publish('tasks', [event]));
  await eventually(async () => (await events('list')).lines.length === 1);
  healed = true;
  expect(await events('replay --consumer healing')).toMatchObject({ code: 0, named: [['dead', 'healing', event.id]] });
  await eventually(() => handled.length === 1);
  expect(handled).toEqual([['dead', 1]]);
  await eventually(async () => (await ids('failed_event')).length === 0);
  const parked = await parkedEvent();
  expect(await events('replay --parked')).toMatchObject({ code: 0, named: [['parked', '-', parked]] });
  await eventually(() => handled.length === 2);
});

test.each([
  ['', 'Name one of list, replay and drop.'],
  ['remove --parked', 'Name one of list, replay and drop.'],
  ['list --id 7', '--id takes a UUID.'],
  ['list --all', '--all'],
  ['drop', 'Say what to drop: --consumer, --id or --parked.'],
  ['replay --parked --consumer one', 'A parked event has no consumer.'],
])('"%s" is answered with the usage', async (args, sentence) => {
  const { code, lines, error } = await events(args);
  expect([code, lines]).toEqual([2, []]);
  expect(error).toContain(sentence);
  expect(error).toContain('Usage: pnpm events -- <list|replay|drop>');
});

test('a database that is away, or not named, is said in one sentence', async () => {
  const away = await events('list', 'postgresql://user:hidden@127.0.0.1:1/none');
  expect(away).toMatchObject({ code: 3, lines: [], error: expect.stringMatching(/^The database failed: .+\n$/) });
  expect(away.error).not.toContain('hidden');
  expect(await events('list', '')).toMatchObject({
    code: 2,
    error: expect.stringContaining('DATABASE_URL is not set.'),
  });
});
