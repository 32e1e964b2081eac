import { createHealth } from './create-health.js';

test('ready while every check passes, and says which does not', async () => {
  const health = createHealth();
  let up = true;
  health.check('database', async () => {
    if (!up) throw new Error('connection refused');
  });
  health.check('bus', () => {});
  expect(await health.ready()).toEqual({ ready: true, checks: { database: 'ok', bus: 'ok' } });
  up = false;
  expect(await health.ready()).toEqual({ ready: false, checks: { database: 'connection refused', bus: 'ok' } });
});

test('of two checks with one name the failing one shows', async () => {
  const health = createHealth();
  health.check('database', () => {
    throw new Error('down');
  });
  health.check('database', () => {});
  expect(await health.ready()).toEqual({ ready: false, checks: { database: 'down' } });
});

test('draining is not ready, even for a caller who asked before', async () => {
  const health = createHealth();
  let answer = () => {};
  health.check('slow', () => new Promise<void>((resolve) => (answer = resolve)));
  const asked = health.ready();
  await new Promise(setImmediate);
  health.drain();
  answer();
  expect(await asked).toEqual({ ready: false, checks: { slow: 'ok', process: 'draining' } });
});

test('callers at the same time share one round of checks', async () => {
  const health = createHealth();
  let asked = 0;
  health.check('counted', async () => void asked++);
  await Promise.all([health.ready(), health.ready(), health.ready()]);
  expect(asked).toBe(1);
});
