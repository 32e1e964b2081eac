import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '@acsp/testkit';
import { cpuBetween, readCpu } from '../src/cpu.js';

const burn = 'for (const end = Date.now() + 200; Date.now() < end; );';

test('counts a server with the children that it has, and with those that have ended', async () => {
  const script = `
    const { spawnSync } = require('node:child_process');
    spawnSync(process.execPath, ['-e', ${JSON.stringify(burn)}]);
    process.send('done');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  try {
    const servers = [{ name: 'server', pid: child.pid ?? 0 }];
    const before = readCpu(servers);
    await once(child, 'message');
    expect(cpuBetween(before, readCpu(servers)).get('server')).toBeGreaterThan(100_000);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

test('says which server has ended', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await eventually(() =>
    expect(() => readCpu([{ name: 'server', pid: child.pid ?? 0 }])).toThrow(/server \(process \d+\) has ended/),
  );
});
