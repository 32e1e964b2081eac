import type { OpenServer } from '@acsp/http';
import { createHealth } from '../src/index.js';
import { serveOps } from '../src/serve-ops.js';

const health = createHealth();
let ops: OpenServer;

beforeAll(async () => {
  ops = await serveOps({ port: 0, host: '127.0.0.1', health });
});
afterAll(() => ops[Symbol.asyncDispose]());

const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${ops.port}${path}`, init);

test('metrics are in the Prometheus format', async () => {
  const response = await get('/metrics');
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  expect(await response.text()).toContain('process_cpu_seconds_total');
});

test('anything else is refused', async () => {
  expect((await get('/')).status).toBe(404);
  expect((await get('/livez', { method: 'POST' })).status).toBe(405);
});

test('a draining process is alive and not ready', async () => {
  expect((await get('/readyz?verbose')).status).toBe(200);
  health.drain();
  const response = await get('/readyz');
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ ready: false, checks: { process: 'draining' } });
  expect((await get('/livez')).status).toBe(200);
});

test('a taken port is an error of the start', async () => {
  await expect(serveOps({ port: ops.port, host: '127.0.0.1', health })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
