import type { Pace } from '../compare.js';
import { type CpuTimes, cpuBetween, type Measured, readCpu } from '../cpu.js';
import { median, percentile } from '../latency.js';
import { idle } from '../measure.js';
import { type Flow, openLoop, type Way } from './open-loop.js';

/** How long messages of one kind were under way: medians over the rounds. */
export interface Arrivals {
  readonly title: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time a message in microseconds, by process. */
  readonly cpuUs: CpuTimes;
}

export interface Aimed {
  readonly title: string;
  readonly perSecond: number;
}

export async function measureArrivals(
  { title, perSecond }: Aimed,
  way: Way,
  { servers, pace }: { readonly servers: readonly Measured[]; readonly pace: Pace },
): Promise<Arrivals> {
  const flow = (seconds: number): Flow => ({ perSecond, seconds });
  await openLoop(way, flow(pace.warmUpSeconds));
  const [p50, p99]: [number[], number[]] = [[], []];
  await idle(servers);
  const before = readCpu(servers);
  let messages = 0;
  for (let round = 0; round < pace.rounds; round += 1) {
    const latencies = await openLoop(way, flow(pace.seconds));
    messages += latencies.length;
    p50.push(percentile(latencies, 0.5));
    p99.push(percentile(latencies, 0.99));
  }
  const used = cpuBetween(before, readCpu(servers));
  return {
    title,
    perSecond,
    p50Ms: median(p50),
    p99Ms: median(p99),
    cpuUs: new Map([...used].map(([name, time]) => [name, time / messages])),
  };
}
