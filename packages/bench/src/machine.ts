import { cpus, loadavg, release, totalmem } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { readProcesses } from './cpu.js';

const windowMs = 1_000;

/** The machine that the numbers were measured on, and who else was using it. */
export async function describeMachine(postgresVersion: string): Promise<string> {
  const [cpu] = cpus();
  const before = readProcesses();
  await pause(windowMs);
  const busy = [...readProcesses()]
    .map(([pid, { command, ticks }]) => ({
      name: `${command} (${pid})`,
      percent: ticks - (before.get(pid)?.ticks ?? ticks),
    }))
    .filter(({ percent }) => percent >= 3)
    .sort((a, b) => b.percent - a.percent)
    .map(({ name, percent }) => `${name} ${percent} %`);
  return [
    `${cpus().length} cores ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.versions.node}, PostgreSQL ${postgresVersion}, fsync on`,
    `load average ${loadavg()
      .map((value) => value.toFixed(2))
      .join(' ')}; other busy processes: ${busy.join(', ') || 'none'}`,
  ].join('\n');
}
