import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claim, claimWhenFree, isRunning, processStart } from '../process-lock.mjs';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'acsp-claims-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('a claim holds until it is released, against this process too', () => {
  const first = claim(directory);
  expect(claim(directory)).toEqual({ holder: process.pid });
  first.release?.();
  expect(readdirSync(directory)).toEqual([]);
  expect(claim(directory).release).toBeDefined();
});

test('a claim of a live process is respected', () => {
  writeFileSync(join(directory, `${process.ppid}-${processStart(process.ppid)}`), '');
  expect(claim(directory)).toEqual({ holder: process.ppid });
  expect(readdirSync(directory)).toHaveLength(1);
});

test('a claim of a dead process is swept away, even when its pid lives on in another process', () => {
  writeFileSync(join(directory, `${process.ppid}-1`), '');
  writeFileSync(join(directory, '4194304-1'), '');
  expect(claim(directory).release).toBeDefined();
  expect(readdirSync(directory)).toEqual([`${process.pid}-${processStart(process.pid)}`]);
});

test('who waits is told for whom, and goes on when the other is through', async () => {
  const other = spawn('sleep', ['60']);
  const pid = other.pid as number;
  writeFileSync(join(directory, `${pid}-${processStart(pid)}`), '');
  const waitingFor = new Promise((resolve) => {
    claimWhenFree(directory, { timeoutMs: 10_000, onWait: resolve }).then(({ release }) => release?.());
  });
  expect(await waitingFor).toBe(pid);
  other.kill();
  await once(other, 'exit');
  expect((await claimWhenFree(directory, { timeoutMs: 10_000 })).release).toBeDefined();
});

test('a process that has ended does not run', async () => {
  const child = spawn('true');
  const pid = child.pid as number;
  await once(child, 'exit');
  expect(isRunning(pid)).toBe(false);
  expect(isRunning(process.pid, processStart(process.pid))).toBe(true);
  expect(isRunning(process.pid, '1')).toBe(false);
});
