import { setTimeout as pause } from 'node:timers/promises';
import { type CpuTimes, cpuBetween, type Measured, readCpu, total } from './cpu.js';
import { drive } from './driver.js';
import { percentile } from './latency.js';
import type { Fixtures, Scenario } from './scenarios/scenario.js';
import type { Side } from './sides/side.js';

export const connections = 64;

/** The figures of one load on one side. */
export interface Sample {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time a request in microseconds, by process, with the work that was still to do when the last answer was there. */
  readonly cpuUs: CpuTimes;
  /** The CPU time of the load generator; it shares the cores with the servers. */
  readonly driverUs: number;
}

export interface Contestant {
  readonly side: Side;
  readonly fixtures: Fixtures;
}

/** One load on one side, begun and ended with idle servers. */
export async function measure(scenario: Scenario, { side, fixtures }: Contestant, seconds: number): Promise<Sample> {
  await idle(side.servers);
  const before = readCpu(side.servers);
  const own = process.cpuUsage();
  const journey = scenario.journey(side.name, fixtures);
  const { requests, seconds: took, latencies } = await drive({ url: side.url, connections, seconds, journey });
  const { user, system } = process.cpuUsage(own);
  await idle(side.servers);
  const used = cpuBetween(before, readCpu(side.servers));
  return {
    requestsPerSecond: requests / took,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    cpuUs: new Map([...used].map(([name, time]) => [name, time / requests])),
    driverUs: (user + system) / requests,
  };
}

const windowMs = 150;
const patienceMs = 3_000;

/** Waits until the servers rest: outbox rows of one load must not be published in the time of the next. */
export async function idle(servers: readonly Measured[]): Promise<void> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; ) {
    const before = readCpu(servers);
    await pause(windowMs);
    if (total(cpuBetween(before, readCpu(servers))) < windowMs * 1000 * 0.15) return;
  }
}
