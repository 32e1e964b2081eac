import { readdirSync, readFileSync } from 'node:fs';

/** A server whose CPU time is counted, with the processes that it has started: the backends of a PostgreSQL. */
export interface Measured {
  readonly name: string;
  readonly pid: number;
}

/** CPU time so far (user and system) in microseconds, by name. Linux only. */
export type CpuTimes = ReadonlyMap<string, number>;

/** The kernel counts in ticks of 1/100 s on every platform that Node runs on. */
const usPerTick = 10_000;

export function readCpu(servers: readonly Measured[]): CpuTimes {
  const all = readProcesses();
  const times = new Map<string, number>();
  for (const { name, pid } of servers) {
    const own = all.get(pid);
    if (own === undefined) throw new Error(`${name} (process ${pid}) has ended`);
    let ticks = own.ticks + own.endedChildrenTicks;
    for (const { parent, ticks: more } of all.values()) if (parent === pid) ticks += more;
    times.set(name, (times.get(name) ?? 0) + ticks * usPerTick);
  }
  return times;
}

/** The CPU time between two readings. */
export function cpuBetween(before: CpuTimes, after: CpuTimes): CpuTimes {
  return new Map([...after].map(([name, time]) => [name, time - (before.get(name) ?? 0)]));
}

export const total = (times: CpuTimes): number => [...times.values()].reduce((sum, time) => sum + time, 0);

/** The processes outside of this list that used CPU between two calls, busiest first: who else shares the machine. */
export function readProcesses(): Map<number, ProcessTimes> {
  const found = new Map<number, ProcessTimes>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (pid > 0) {
      const times = readStat(pid);
      if (times !== undefined) found.set(pid, times);
    }
  }
  return found;
}

export interface ProcessTimes {
  readonly command: string;
  readonly parent: number;
  readonly ticks: number;
  readonly endedChildrenTicks: number;
}

/** proc_pid_stat(5): the command is in parentheses and may hold spaces, so fields are counted from the last parenthesis. */
function readStat(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    const number = (index: number) => Number(fields[index]);
    return {
      command: stat.slice(stat.indexOf('(') + 1, end),
      parent: number(1),
      ticks: number(11) + number(12),
      endedChildrenTicks: number(13) + number(14),
    };
  } catch {
    // It ended while we looked.
    return undefined;
  }
}
