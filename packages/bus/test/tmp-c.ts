import { startNats } from '@acsp/local';
import { createBus } from '../src/index.js';
import { quietLog as log } from './quiet-log.js';
import { taskEvents } from './task-event.js';
import { readFileSync } from 'node:fs';
const nats = await startNats();
const bus = createBus({ natsUrl: nats.url, databaseUrl: '', log });
for (;;) try { await bus.ready(); break; } catch { await new Promise((r) => setTimeout(r, 50)); }
const cpu = () => { const f = readFileSync(`/proc/${nats.pid}/stat`, 'utf8').split(' '); return (Number(f[13]) + Number(f[14])) * 10; };
let handled = 0;
const handle = async () => { handled++; };
let c = await bus.consume({ name: 'bench-x', subjects: ['acsp.tasks.>'], handle });
for (let i = 0; i < 60; i++) await bus.publish('tasks', taskEvents(500));
while (handled < 30000) await new Promise((r) => setTimeout(r, 20));
console.log('first done');
if (process.env.DISPOSE !== '0') await c[Symbol.asyncDispose]();
handled = 0;
for (let i = 0; i < 60; i++) await bus.publish('tasks', taskEvents(500));
const t = Date.now(); let c0 = process.cpuUsage(), s0 = cpu(), h0 = 0;
if (process.env.DISPOSE !== '0') c = await bus.consume({ name: 'bench-x', subjects: ['acsp.tasks.>'], handle });
while (handled < 30000 && Date.now() - t < 20000) { await new Promise((r) => setTimeout(r, 1000)); const u = process.cpuUsage(c0); const d = handled - h0; console.log(Date.now() - t, handled, 'client us', Math.round((u.user + u.system) / d), 'server us', Math.round((cpu() - s0) * 1000 / d)); h0 = handled; c0 = process.cpuUsage(); s0 = cpu(); }
process.exit(0);
