import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { startPostgres, startNats } from '@acsp/local';
import { createBus, startRelay } from '../src/index.js';
import { emitTask, openOutbox, unpublished } from './outbox.js';
import { quietLog as log } from './quiet-log.js';
import { titleOf, taskEvents } from './task-event.js';
import { mkdtempSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
const dir = mkdtempSync('/tmp/bb-');
const postgres = await startPostgres({ dataDir: dir, fsync: process.env.FSYNC !== '0' });
const nats = await startNats();
for (const kind of ['nats', 'embedded']) {
  await postgres.ensureDatabase('s_' + kind); await postgres.ensureDatabase('bus');
  const database = openOutbox(postgres.url('s_' + kind)); await database.migrated;
  const bus = createBus({ natsUrl: kind === 'nats' ? nats.url : undefined, databaseUrl: postgres.url('bus'), log });
  for (;;) try { await bus.ready(); break; } catch { await new Promise((r) => setTimeout(r, 50)); }
  let resolve = () => {}; let handled = 0; const seen: string[] = []; let watched = () => {};
  const c = await bus.consume({ name: 'bench-x', subjects: ['acsp.tasks.>'], handle: async (e) => { handled++; resolve(); } });
  const relay = startRelay({ database, bus, service: 'tasks', payloads: { task: TaskEventSchema }, log });
  await new Promise((r) => setTimeout(r, 500));
  const lat: number[] = []; const commit: number[] = [];
  for (let i = 0; i < 400; i++) {
    const t0 = performance.now();
    await emitTask(database.pool, 'x' + i);
    const t = performance.now(); commit.push(t - t0);
    const got = new Promise<void>((r) => { resolve = r; });
    relay.wake(); await got; if (i >= 50) lat.push(performance.now() - t);
    await new Promise((r) => setTimeout(r, 3));
  }
  lat.sort((a, b) => a - b); commit.sort((a, b) => a - b);
  console.log(kind, 'commit', commit[200]!.toFixed(2), 'commit->handled p50', lat[lat.length >> 1]!.toFixed(2), 'p90', lat[Math.floor(lat.length * .9)]!.toFixed(2), 'p99', lat[Math.floor(lat.length * .99)]!.toFixed(2));
  await relay[Symbol.asyncDispose]();
  const N = 30000; handled = 0;
  await database.pool.query(`insert into bus.outbox(id,type,audience,actor,payload) select gen_random_uuid(), 'task.created', array['global','agent:'||repeat('a',50)], repeat('a',50), jsonb_build_object('taskId', gen_random_uuid(), 'title', 'A title of '||i, 'previousStatus','open','status','claimed','creatorAid',repeat('b',50),'assignedAid',repeat('c',50)) from generate_series(1,${N}) i`);
  await database.pool.query('analyze bus.outbox');
  const t0 = performance.now(), c0 = process.cpuUsage();
  const relay2 = startRelay({ database, bus, service: 'tasks', payloads: { task: TaskEventSchema }, log });
  while ((await unpublished(database.pool)) > 0) await new Promise((r) => setTimeout(r, 50));
  const t1 = performance.now(); const cpu = process.cpuUsage(c0);
  const during = handled;
  while (handled < N) await new Promise((r) => setTimeout(r, 20));
  const t2 = performance.now();
  console.log(kind, 'relay', Math.round(N / (t1 - t0) * 1000), 'events/s with a consumer that handled', during, 'meanwhile; node cpu us/event', Math.round((cpu.user + cpu.system) / N), '; all handled', Math.round(N / (t2 - t0) * 1000), '/s');
  await relay2[Symbol.asyncDispose](); await c[Symbol.asyncDispose]();
  await database.pool.query(`insert into bus.outbox(id,type,audience,actor,payload) select gen_random_uuid(), 'task.created', array['global','agent:'||repeat('a',50)], repeat('a',50), jsonb_build_object('taskId', gen_random_uuid(), 'title', 'A title of '||i, 'previousStatus','open','status','claimed','creatorAid',repeat('b',50),'assignedAid',repeat('c',50)) from generate_series(1,${N}) i`);
  const t3 = performance.now();
  const relay3 = startRelay({ database, bus, service: 'tasks', payloads: { task: TaskEventSchema }, log });
  while ((await unpublished(database.pool)) > 0) await new Promise((r) => setTimeout(r, 50));
  console.log(kind, 'relay alone', Math.round(N / (performance.now() - t3) * 1000), 'events/s');
  handled = 0; const t4 = performance.now(); const iv = setInterval(() => console.log(Math.round(performance.now() - t4), handled), 1000);
  await bus.consume({ name: 'bench-x', subjects: ['acsp.tasks.>'], handle: async () => { handled++; } });
  while (handled < N) await new Promise((r) => setTimeout(r, 20));
  clearInterval(iv); console.log(kind, 'consumer alone', Math.round(N / (performance.now() - t4) * 1000), 'events/s');
  await relay3[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose](); await database[Symbol.asyncDispose]();
}
await nats[Symbol.asyncDispose](); await postgres[Symbol.asyncDispose]();
process.exit(0);
