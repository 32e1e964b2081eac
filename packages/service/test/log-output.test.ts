import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { eventually, spawnSource } from '@acsp/testkit';

// A process that logs 20 MB a second, more than anything here takes.

interface Talker {
  readonly process: ChildProcess;
  /** How often it has said on standard error that it is alive. */
  readonly alive: () => number;
  readonly exit: Promise<number | null>;
}

function talker(stdout: 'pipe' | number): Talker {
  const env = { PATH: process.env.PATH, GREETING: 'hello', FAULT: 'talks' };
  const child = spawnSource(new URL('child/service.ts', import.meta.url), [], {
    env,
    stdio: ['ignore', stdout, 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  return {
    process: child,
    alive: () => said.split('alive').length - 1,
    exit: once(child, 'exit').then(([code]) => code as number | null),
  };
}

/** It goes on for a second and more, and ends in order. */
async function expectToLiveAndEnd({ process: child, alive, exit }: Talker): Promise<void> {
  await eventually(() => alive() > 20);
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
}

test('on a full disk a process goes on, and ends in order', async () => {
  const full = openSync('/dev/full', 'w');
  await expectToLiveAndEnd(talker(full));
  closeSync(full);
});

test('in front of a reader that stands still a process goes on, and ends in order', () =>
  expectToLiveAndEnd(talker('pipe')));

test('behind a closed pipe a process goes on, and ends in order', async () => {
  const child = talker('pipe');
  await eventually(() => child.alive() > 0);
  child.process.stdout?.destroy();
  await expectToLiveAndEnd(child);
});

test('a reader that comes back gets whole lines, and learns how many were lost', async () => {
  const child = talker('pipe');
  await eventually(() => child.alive() > 20);
  let text = '';
  child.process.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  await eventually(() => text.includes('log lines were lost'));
  child.process.kill('SIGTERM');
  await child.exit;
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  expect(lines.find(({ msg }) => msg === 'log lines were lost').dropped).toBeGreaterThan(10);
  expect(lines.filter(({ msg }) => msg === 'talk').length).toBeGreaterThan(50);
});
