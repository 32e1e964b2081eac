import { deleteExpired, newId } from '@acsp/database';
import { expiredRadios } from '../src/radio/claim.js';
import { agent, type Events, startEvents } from './harness.js';

let events: Events;
beforeAll(async () => {
  events = await startEvents();
});
afterAll(() => events[Symbol.asyncDispose]());

test('forgets the streams of tokens that can take up none any more, and no others', async () => {
  const { prisma, pool } = events.context.database;
  const seen = (minutesAgo: number) => ({
    ...{ token_id: newId(), aid: agent('Ann').aid, number: 1 },
    alive_at: new Date(Date.now() - minutesAgo * 60_000),
  });
  const [open, recent, old] = [seen(0), seen(8), seen(61)];
  await prisma.radio.createMany({ data: [open, recent, old] });
  await deleteExpired(pool, [expiredRadios]);
  const kept = await prisma.radio.findMany({ orderBy: { alive_at: 'desc' } });
  expect(kept.map(({ token_id }) => token_id)).toEqual([open.token_id, recent.token_id]);
});
