import type { Pace } from '../compare.js';
import { type CpuTimes, cpuBetween, type Measured, readCpu } from '../cpu.js';
import { median, percentile } from '../latency.js';
import { idle } from '../measure.js';
import { type Flow, openLoop, type Taken, type Way } from './open-loop.js';

/** How long messages of one kind were under way: medians over the rounds. */
export interface Arrivals {
  readonly title: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The part of the median after the sender has its answer: the way from the outbox to the stream. */
  readonly afterAnswerMs: number;
  /** CPU time a message in microseconds, by process. */
  readonly cpuUs: CpuTimes;
}

export interface Aimed {
  readonly title: string;
  readonly perSecond: number;
}

const warmUpPerSecond = 400;

export async function measureArrivals(
  { title, perSecond }: Aimed,
  way: Way,
  { servers, pace }: { readonly servers: readonly Measured[]; readonly pace: Pace },
): Promise<Arrivals> {
  const flow = (seconds: number): Flow => ({ perSecond, seconds });
  // At a hundred a second it would be minutes before V8 has compiled what they run through.
  await openLoop(way, { perSecond: warmUpPerSecond, seconds: pace.warmUpSeconds * 3 });
  const rounds: Taken[][] = [];
  await idle(servers);
  const before = readCpu(servers);
  let messages = 0;
  for (let round = 0; round < pace.rounds; round += 1) {
    const taken = await openLoop(way, flow(pace.seconds));
    messages += taken.length;
    rounds.push(taken);
  }
  const ofRounds = (pick: (taken: Taken) => number, share: number) =>
    median(rounds.map((round) => percentile(round.map(pick), share)));
  const whole = ({ wholeMs }: Taken) => wholeMs;
  const used = cpuBetween(before, readCpu(servers));
  return {
    title,
    perSecond,
    p50Ms: ofRounds(whole, 0.5),
    p99Ms: ofRounds(whole, 0.99),
    afterAnswerMs: ofRounds(({ afterAnswerMs }) => afterAnswerMs, 0.5),
    cpuUs: new Map([...used].map(([name, time]) => [name, time / messages])),
  };
}
