import { defineEvents, eventColumns, insertEvents } from '@acsp/bus';
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
  await service.context.database.pool.query('TRUNCATE bus.outbox, note');
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

test('commits publish their events at once, not when the relay looks again after a second', async () => {
  const seen: Event[] = [];
  let live = false;
  const watching = service.bus.watch({
    subjects: ['acsp.trial.note.*'],
    // An event of the tests before may be in flight still.
    handle: (each) => void (each.actor === 'y' && seen.push(each)),
    onLive: (now) => {
      live = now;
    },
  });
  await eventually(() => live);
  const startedAt = performance.now();
  for (let commits = 1; commits <= 16; commits += 1) {
    await service.context.database.transaction(undefined, (tx) => emit(tx, { ...event, actor: 'y' }));
    await eventually(() => seen.length === commits);
  }
  // Each commit follows a publication, so a relay that only polls needs a second for each but the first.
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(seen[0]).toMatchObject({ type: 'note.written', audience: event.audience });
  await watching[Symbol.asyncDispose]();
});
