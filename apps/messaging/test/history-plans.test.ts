import type pg from 'pg';
import { agent, type Messaging, startMessaging } from './harness.js';

let messaging: Messaging;
const busy = agent('Busy');
const calls = 60;

/** Every tenth of 20,000 messages is for one agent, and every tenth from it. */
beforeAll(async () => {
  messaging = await startMessaging();
  const { pool } = messaging.context.database;
  await pool.query(
    `INSERT INTO message (id, to_aid, from_aid, from_name, content, msg_type, created_at)
     SELECT gen_random_uuid(), CASE n % 10 WHEN 0 THEN $1 ELSE 'to' || n % 500 END, CASE n % 10 WHEN 5 THEN $1 ELSE 'from' || n % 500 END,
       'Any', 'Hello', 'text', now() - make_interval(secs => n) FROM generate_series(1, 20000) AS n`,
    [busy.aid],
  );
  await pool.query('VACUUM ANALYZE message');
}, 60_000);
afterAll(() => messaging[Symbol.asyncDispose]());

/** How often statements with this text were carried out by a plan for any value, on all connections of the pool. */
async function genericPlans(text: string): Promise<number> {
  const { pool } = messaging.context.database;
  const clients: pg.PoolClient[] = [];
  try {
    for (let n = 0; n < pool.options.max; n += 1) clients.push(await pool.connect());
    let found = 0;
    for (const client of clients) {
      const { rows } = await client.query<{ plans: number }>(
        'SELECT coalesce(sum(generic_plans), 0)::int AS plans FROM pg_prepared_statements WHERE position($1 IN statement) > 0',
        [text],
      );
      found += rows[0]?.plans ?? 0;
    }
    return found;
  } finally {
    for (const client of clients) client.release();
  }
}

test.each([
  ['a history', '/message/history?limit=', 'WITH found'],
  ['a conversation', `/message/history?with_aid=${agent('Other').aid}&limit=`, 'AND to_aid'],
])('%s is planned once a connection, whatever its limit', async (_name, path, text) => {
  for (let n = 0; n < calls; n += 1)
    expect((await messaging.call(busy, `GET ${path}${1 + (n % 100)}`)).status).toBe(200);
  // PostgreSQL plans the first five executions of a statement on each connection for their values.
  expect(await genericPlans(text)).toBeGreaterThanOrEqual(calls - 5 * 10);
});

test('a history by thread_id reads none of the messages of others who use the same text, nor those of other threads', async () => {
  const { pool } = messaging.context.database;
  await pool.query(`UPDATE message SET thread_id = CASE WHEN $1 IN (from_aid, to_aid) THEN 'own' ELSE 'common' END`, [
    busy.aid,
  ]);
  await pool.query('VACUUM ANALYZE message');
  const read = async (thread_id: string) => {
    const plans: string[] = [];
    for (const side of ['from_aid', 'to_aid']) {
      const { rows } = await pool.query<{ 'QUERY PLAN': unknown }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) SELECT id FROM message WHERE ${side} = '${busy.aid}' AND thread_id = '${thread_id}'
         ORDER BY created_at DESC FETCH FIRST (SELECT 50) ROWS WITH TIES`,
      );
      plans.push(JSON.stringify(rows[0]?.['QUERY PLAN']));
    }
    const response = await messaging.call(busy, `GET /message/history?thread_id=${thread_id}`);
    expect(response.status).toBe(200);
    return plans.flatMap((plan) =>
      [...plan.matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, rows]) => Number(rows)),
    );
  };
  for (const thread_id of ['common', 'own', 'none'])
    expect({ thread_id, dropped: await read(thread_id) }).toEqual({ thread_id, dropped: [] });
});
