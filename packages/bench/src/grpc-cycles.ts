import { fileURLToPath } from 'node:url';
import { startChild } from './child.js';
import type { Pace } from './compare.js';
import { type CpuTimes, cpuBetween, readCpu } from './cpu.js';
import type { CycleOrder, CycleResult } from './grpc-worker.js';
import { median } from './latency.js';
import { idle } from './measure.js';
import type { Distributed } from './sides/distributed.js';
import { principalSecret } from './sides/settings.js';
import type { Environment } from './sides/side.js';

export interface CycleSample extends CycleResult {
  readonly concurrency: number;
  /** CPU time a cycle in microseconds, by process; the worker is one of them. */
  readonly cpuUs: CpuTimes;
}

const script = fileURLToPath(new URL('./grpc-worker.js', import.meta.url));

/** One worker process drives tasks by gRPC: create → claim → submit → approve. The median round of each concurrency. */
export async function measureCycles(
  side: Distributed,
  pace: Pace,
  { servers: { postgres }, logDir }: Environment,
): Promise<CycleSample[]> {
  await using worker = startChild({ name: 'grpc-worker', script, env: {}, logDir });
  const servers = [...side.servers, { name: 'worker', pid: worker.pid }];
  const run = async (concurrency: number, seconds: number): Promise<CycleSample> => {
    const order: CycleOrder = { address: side.tasksAddress, secret: principalSecret, concurrency, seconds };
    await idle(servers);
    const before = readCpu(servers);
    worker.send(order);
    const result = (await worker.receive()) as CycleResult;
    await idle(servers);
    const used = cpuBetween(before, readCpu(servers));
    return { ...result, concurrency, cpuUs: new Map([...used].map(([name, time]) => [name, time / result.cycles])) };
  };
  const samples: CycleSample[] = [];
  await run(64, pace.warmUpSeconds * 2);
  await postgres.analyze();
  for (const concurrency of [64, 256]) {
    const rounds: CycleSample[] = [];
    for (let round = 0; round < pace.rounds; round += 1) rounds.push(await run(concurrency, pace.seconds));
    samples.push(middle(rounds));
  }
  return samples;
}

function middle(rounds: readonly CycleSample[]): CycleSample {
  const rate = ({ cycles, seconds }: CycleSample) => cycles / seconds;
  const wanted = median(rounds.map(rate));
  const distance = (sample: CycleSample) => Math.abs(rate(sample) - wanted);
  return rounds.reduce((best, sample) => (distance(sample) < distance(best) ? sample : best));
}
