import { createLogger, type Logger } from '../src/index.js';

const key = `nk_${'A'.repeat(43)}`;

/** A real logger whose lines end up in an array, parsed. */
function collectLog(): { readonly log: Logger; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { log: createLogger({ name: 'test', level: 'trace', destination }), lines };
}

test('a line carries level, time, service, the fields and the message', () => {
  const { log, lines } = collectLog();
  log.info({ request_id: 'r1', status: 200 }, 'request');
  expect(lines).toEqual([
    { level: 'info', time: expect.any(String), service: 'test', request_id: 'r1', status: 200, msg: 'request' },
  ]);
  expect(new Date(String(lines[0]?.time)).toISOString()).toBe(lines[0]?.time);
});

test('secrets are hidden in fields, nested objects, lists, headers and child loggers', () => {
  const { log, lines } = collectLog();
  log.child({ login_key: key }).warn(
    {
      body: {
        aid: 'ab',
        login_key: key,
        keys: [{ encrypted_key: 's3cret' }],
        nested: { loginKey: key, privateKey: 's3cret' },
      },
      headers: { Authorization: 's3cret', 'X-Signature': 's3cret', 'acsp-principal': 's3cret', host: 'example' },
      webhook_secret: 's3cret',
      sig: 's3cret',
    },
    'refused',
  );
  const line = JSON.stringify(lines[0]);
  expect(line).not.toContain('s3cret');
  expect(line).not.toContain('AAAA');
  expect(lines[0]).toMatchObject({ body: { aid: 'ab' }, headers: { host: 'example' }, msg: 'refused' });
});

test('secrets are hidden in messages, URLs and errors with their causes', () => {
  const { log, lines } = collectLog();
  const cause = Object.assign(new Error(`bad key ${key}`), { token: 's3cret' });
  log.error({ err: new Error('GET /api/acsp/inbox?aid=1&signature=s3cret&ts=5', { cause }) }, `used ${key}`);
  log.error(new Error('cannot reach postgres://acsp:s3cret@db:5432/tasks with Bearer s3cret.s3cret'));
  log.error(cause);
  const text = JSON.stringify(lines);
  expect(text).not.toContain('s3cret');
  expect(text).not.toContain('AAAA');
  expect(text).toContain('aid=1&signature=[redacted]&ts=5');
  expect(text).toContain('postgres://acsp:[redacted]@db:5432/tasks');
});

test('what is logged stays as it was', () => {
  const { log } = collectLog();
  const fields = { body: { login_key: key, list: [{ token: 'a' }] } };
  log.info(fields, 'request');
  expect(fields).toEqual({ body: { login_key: key, list: [{ token: 'a' }] } });
});

test('objects that are deep, wide or in circles are logged in part', () => {
  const { log, lines } = collectLog();
  const circle: Record<string, unknown> = { name: 'circle' };
  circle.self = circle;
  const wide = Array.from({ length: 5_000 }, (_, n) => ({ n }));
  log.info({ circle, bytes: Buffer.alloc(64), wide }, 'odd');
  expect(lines[0]).toMatchObject({ circle: { name: 'circle', self: { name: 'circle' } }, bytes: '[64 bytes]' });
  expect(JSON.stringify(lines[0]).length).toBeLessThan(20_000);
});
