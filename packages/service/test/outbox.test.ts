import { claimEvent, defineEvents, eventColumns, insertEvents } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import { type BatchStatement, newId } from '@acsp/database';
import { eventually, startService, type TestService } from '@acsp/testkit';
import { CreateNoteResponseSchema } from './generated/proto/acsp/trial/v1/trial_pb.js';
import { type Context, trial } from './trial/service.js';

// Events in the transactions of a service, through its Prisma client and its batches.

let service: TestService<Context>;
const { emit, row } = defineEvents({ note: CreateNoteResponseSchema });
const event = {
  type: 'note.written',
  audience: ['global', 'agent:x'],
  actor: null,
  payload: { id: newId(), text: 'it\'s "quoted" \\ ünïcode' },
} as const;

beforeAll(async () => {
  service = await startService(trial);
});
beforeEach(async () => {
  await service.context.database.pool.query('TRUNCATE bus.outbox, bus.processed, note');
});
afterAll(() => service[Symbol.asyncDispose]());

const rows = async () => (await service.context.database.pool.query('SELECT * FROM bus.outbox ORDER BY position')).rows;

test('an event is stored as it was emitted, with a time-ordered id and the time of the transaction', async () => {
  const { prisma } = service.context.database;
  await emit(prisma, { ...event, actor: 'x' });
  await emit(prisma, event);
  const [first, second] = await rows();
  expect([first, second]).toMatchObject([{ ...event, actor: 'x' }, event]);
  expect(first.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(first.id < second.id).toBe(true);
  expect(Math.abs(Date.now() - first.occurred_at)).toBeLessThan(5_000);
});

test('an event of a transaction that fails is not emitted', async () => {
  const failing = service.context.database.transaction(undefined, async (tx) => {
    await emit(tx, event);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await rows()).toEqual([]);
});

test('an event is written by the statement of a batch that makes its change', async () => {
  const insert: BatchStatement<ReturnType<typeof row>, { readonly key: string }> = {
    name: 'note with event',
    columns: eventColumns,
    key: ({ event_id }) => event_id,
    text: `, made AS (INSERT INTO note (id, text) SELECT event_id, event_type FROM input),
      ${insertEvents('input')} SELECT event_id AS key FROM input`,
  };
  await service.context.database.batch(insert, row(event, new Date('2026-01-02T03:04:05Z')));
  expect(await rows()).toMatchObject([{ ...event, occurred_at: new Date('2026-01-02T03:04:05Z') }]);
});

test('a commit publishes its events at once', async () => {
  const seen: Event[] = [];
  let live = false;
  const watching = service.bus.watch({
    subjects: ['acsp.trial.note.*'],
    handle: (each) => void seen.push(each),
    onLive: (now) => {
      live = now;
    },
  });
  await eventually(() => live);
  await service.context.database.transaction(undefined, (tx) => emit(tx, event));
  await eventually(() => seen.length === 1);
  expect(seen[0]).toMatchObject({ type: 'note.written', audience: event.audience });
  await watching[Symbol.asyncDispose]();
});

test('an event is claimed once by each consumer, and again when its transaction failed', async () => {
  const { database } = service.context;
  const id = newId();
  const claim = (consumer: string) => database.transaction(undefined, (tx) => claimEvent(tx, consumer, id));
  const failing = database.transaction(undefined, async (tx) => {
    await claimEvent(tx, 'one', id);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect([await claim('one'), await claim('one'), await claim('two')]).toEqual([true, false, true]);
});

test('of many deliveries at once one claims the event', async () => {
  const { database } = service.context;
  const id = newId();
  const claim = () => database.transaction(undefined, (tx) => claimEvent(tx, 'one', id));
  const claims = await Promise.all(Array.from({ length: 4 }, claim));
  expect(claims.filter(Boolean)).toHaveLength(1);
});
