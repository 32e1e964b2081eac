import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { eventually, spawnSource } from '@acsp/testkit';

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly said: () => string;
  readonly logged: () => string;
  /** Resolves when the child has said it. */
  until(text: string): Promise<void>;
  readonly exit: Promise<number | null>;
}

function start(env: Record<string, string>): Child {
  const program = new URL('child/service.ts', import.meta.url);
  const child = spawnSource(program, [], { env: { PATH: process.env.PATH, ...env } }) as ChildProcessWithoutNullStreams;
  let said = '';
  let logged = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  child.stdout.on('data', (chunk) => {
    logged += chunk;
  });
  return {
    process: child,
    said: () => said,
    logged: () => logged,
    async until(text) {
      while (!said.includes(text)) await once(child.stderr, 'data');
    },
    exit: once(child, 'close').then(([code]) => code as number | null),
  };
}

test('SIGTERM makes it not ready, disposes what start returned and exits with 0', async () => {
  const child = start({ GREETING: 'hello' });
  await child.until('up {"ready":true');
  child.process.kill('SIGTERM');
  expect(await child.exit).toBe(0);
  expect(child.said()).toContain('dispose false');
  expect(child.logged()).toContain('"msg":"stopped"');
  expect(child.logged()).toContain('"ready":false,"login_key":"[redacted]","msg":"inside start"');
});

test('another signal exits with 1 at once', async () => {
  const child = start({ GREETING: 'hello', DRAIN_DELAY_MS: '20000' });
  await child.until('up');
  child.process.kill('SIGINT');
  child.process.kill('SIGTERM');
  expect(await child.exit).toBe(1);
  expect(child.said()).not.toContain('dispose');
  expect(child.logged()).not.toContain('took longer');
});

test('a signal that comes twice at once, as Ctrl-C does below npm, counts once', async () => {
  const child = start({ GREETING: 'hello', DRAIN_DELAY_MS: '200' });
  await child.until('up');
  child.process.kill('SIGINT');
  await eventually(() => child.logged().includes('stopping'));
  child.process.kill('SIGINT');
  expect(await child.exit).toBe(0);
});

test('a stop that does not end exits with 1', async () => {
  const child = start({ GREETING: 'hello', FAULT: 'hangs' });
  await child.until('up');
  child.process.kill('SIGTERM');
  expect(await child.exit).toBe(1);
  expect(child.logged()).toContain('took longer than 500 ms');
});

test('a step of the stop that fails is logged and exits with 1', async () => {
  const child = start({ GREETING: 'hello', FAULT: 'dispose' });
  await child.until('up');
  child.process.kill('SIGTERM');
  expect(await child.exit).toBe(1);
  expect(child.logged()).toContain('pool is gone');
});

test('every wrong variable is named in one sentence, its own and the common ones', async () => {
  const child = start({ OPS_PORT: 'many', GREETING: '' });
  expect(await child.exit).toBe(1);
  expect(child.said()).toBe(
    'child could not start: Wrong configuration: OPS_PORT is wrong (invalid input: expected number, received NaN); GREETING is not set.\n',
  );
});

test('a start that fails for a known reason gives one sentence and no stack', async () => {
  const child = start({ GREETING: 'hello', FAULT: 'known' });
  expect(await child.exit).toBe(1);
  expect(child.said()).toBe('hello\nchild could not start: The migration 0002 failed.\n');
  expect(child.logged()).toBe('');
});

test('the stack of a known reason is logged at debug level', async () => {
  const child = start({ GREETING: 'hello', FAULT: 'known', LOG_LEVEL: 'debug' });
  expect(await child.exit).toBe(1);
  expect(child.logged()).toContain('"stack":"Error: The migration 0002 failed\\n    at ');
});

test('a start that fails for an unknown reason logs the stack', async () => {
  const child = start({ GREETING: 'hello', FAULT: 'unknown' });
  expect(await child.exit).toBe(1);
  expect(child.said()).toBe('hello\nchild could not start: x is not a function.\n');
  expect(child.logged()).toContain('"level":"fatal"');
});

test('an error that nobody catches is logged as fatal and exits with 1', async () => {
  const child = start({ GREETING: 'hello', FAULT: 'uncaught' });
  expect(await child.exit).toBe(1);
  expect(child.logged()).toContain('"level":"fatal"');
  expect(child.logged()).toContain('nobody waits for this');
});

test('a port that is taken is said with its number', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  const child = start({ GREETING: 'hello', OPS_PORT: String(port), OPS_HOST: '127.0.0.1' });
  expect(await child.exit).toBe(1);
  expect(child.said()).toBe(`child could not start: port ${port} is in use by another process.\n`);
  holder.close();
});

test('an address that is none of this machine is said by its variable', async () => {
  const child = start({ GREETING: 'hello', OPS_PORT: '0', OPS_HOST: '192.0.2.1' });
  expect(await child.exit).toBe(1);
  expect(child.said()).toMatch(/^child could not start: Wrong configuration: OPS_HOST is wrong \(.*\)\.\n$/);
});

test('a service that fails while it runs is stopped in order, says why and exits with 1', async () => {
  const child = start({ GREETING: 'hello', FAULT: 'fails' });
  expect(await child.exit).toBe(1);
  expect(child.said()).toContain('dispose false');
  expect(child.said()).toContain('child stops: the disk is gone.\n');
});
