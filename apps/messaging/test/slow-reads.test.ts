import { eventually } from '@acsp/testkit';
import pg from 'pg';
import { agent, type Messaging, startMessaging } from './harness.js';

let messaging: Messaging;
beforeAll(async () => {
  messaging = await startMessaging();
});
afterAll(() => messaging[Symbol.asyncDispose]());

/** Keeps everybody from reading these tables until it is disposed. */
async function lock(tables: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: messaging.databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query(`LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
  return { [Symbol.asyncDispose]: () => client.end() };
}

test('R20: histories, inboxes and lists of threads that are slow keep nobody from the channels', async () => {
  const { pool } = messaging.context.database;
  await using held = await lock('message, mailbox, thread');
  const slow = Array.from({ length: 24 }, (_, n) =>
    messaging.call(agent(`Reader ${n}`), `GET ${['/message/history', '/inbox', '/threads'][n % 3]}`),
  );
  await eventually(() => pool.waitingCount > 0);
  const reader = agent('Reader of channels');
  for (let n = 0; n < 5; n += 1) expect((await messaging.call(reader, 'GET /channels')).status).toBe(200);
  await held[Symbol.asyncDispose]();
  for (const { status, headers } of await Promise.all(slow))
    if (status !== 200) expect([status, headers.get('retry-after')]).toEqual([503, '2']);
});
