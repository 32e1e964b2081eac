import type { Arrivals } from './arrivals/measure-arrivals.js';
import type { Comparison } from './compare.js';
import { type CpuTimes, total } from './cpu.js';
import type { CycleSample } from './grpc-cycles.js';
import { median } from './latency.js';
import type { Sample } from './measure.js';
import type { StreamFigures } from './streams/measure-streams.js';

/** A form's results as a Markdown table: medians over the rounds, ratios to the baseline, where the CPU time goes. */
export function comparisonTable(title: string, comparisons: readonly Comparison[]): string {
  const head = ['', '', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'ratio', 'of the CPU time'];
  return `\n### ${title}\n\n${table(head, comparisons.flatMap(rowsOf))}\n`;
}

/** The service's requests/s as a share of the baseline's. */
export const ratioOf = ({ acsp, baseline }: Comparison): number => median(rates(acsp)) / median(rates(baseline));

const rates = (samples: readonly Sample[]) => samples.map(({ requestsPerSecond }) => requestsPerSecond);

function rowsOf(comparison: Comparison): string[][] {
  const { scenario, acsp, baseline } = comparison;
  const paired = acsp.map(
    ({ requestsPerSecond }, round) => requestsPerSecond / (baseline[round]?.requestsPerSecond ?? Number.NaN),
  );
  const range = `${Math.min(...paired).toFixed(2)}–${Math.max(...paired).toFixed(2)}`;
  const byCpu = total(medianCpu(baseline)) / total(medianCpu(acsp));
  const verdict = `**${ratioOf(comparison).toFixed(2)}** (${range}), aim ${scenario.aim}; by CPU time ${byCpu.toFixed(2)}`;
  return [
    [scenario.title, 'acsp', ...figures(acsp), verdict, split(medianCpu(acsp), medianDriver(acsp))],
    ['', 'baseline', ...figures(baseline), '', split(medianCpu(baseline), medianDriver(baseline))],
  ];
}

function figures(samples: readonly Sample[]): string[] {
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick));
  return [
    of((sample) => sample.requestsPerSecond).toFixed(0),
    of((sample) => sample.p50Ms).toFixed(1),
    of((sample) => sample.p99Ms).toFixed(1),
    total(medianCpu(samples)).toFixed(0),
  ];
}

const medianDriver = (samples: readonly Sample[]) => median(samples.map(({ driverUs }) => driverUs));

function medianCpu(samples: readonly Sample[]): CpuTimes {
  const names = [...(samples[0]?.cpuUs.keys() ?? [])];
  return new Map(names.map((name) => [name, median(samples.map(({ cpuUs }) => cpuUs.get(name) ?? 0))]));
}

export function cycleTable(samples: readonly CycleSample[]): string {
  const rows = samples.map(({ concurrency, cycles, seconds, p50Ms, p99Ms, cpuUs }) => [
    String(concurrency),
    (cycles / seconds).toFixed(0),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    total(cpuUs).toFixed(0),
    split(cpuUs),
  ]);
  const head = ['at a time', 'cycles/s, aim 1000', 'p50 ms', 'p99 ms', 'CPU µs/cycle', 'of the CPU time'];
  return `\n### By gRPC from one worker process: create → claim → submit → approve\n\n${table(head, rows)}\n`;
}

export function arrivalTable(arrivals: readonly Arrivals[]): string {
  const rows = arrivals.map(({ title, perSecond, p50Ms, p99Ms, afterAnswerMs, cpuUs }) => [
    ...[title, String(perSecond), p50Ms.toFixed(1), p99Ms.toFixed(1), afterAnswerMs.toFixed(1)],
    ...[total(cpuUs).toFixed(0), split(cpuUs)],
  ]);
  const head = ['', 'a second', 'p50 ms', 'p99 ms', 'p50 after the answer', 'CPU µs each', 'of the CPU time'];
  return `\n### Until the event is on the stream, aims: messages 8 ms and 20 ms (p99), tasks 5 ms\n\n${table(head, rows)}\n`;
}

export function streamTable(figures: readonly StreamFigures[]): string {
  const rows = figures.map(({ title, streams, residentKiB, heapKiB, postMs, ...rest }) => [
    ...[title, String(streams), residentKiB.toFixed(1), heapKiB.toFixed(1)],
    `${Math.min(...postMs).toFixed(0)} (median ${median(postMs).toFixed(0)})`,
    ...[rest.eventsMs.toFixed(0), rest.clientMs.toFixed(0), rest.heartbeatPercent.toFixed(1)],
  ]);
  const resident = 'KiB a stream, aim 12';
  const head = ['', 'streams', resident, 'of it heap', 'post to all, ms, aim 170', 'events CPU ms', 'client CPU ms'];
  return `\n### Open streams on one process\n\n${table([...head, 'heartbeats, % of a core'], rows)}\n`;
}

function split(times: CpuTimes, driverUs?: number): string {
  const parts = [...times].filter(([, time]) => time >= 0.5).map(([name, time]) => `${name} ${time.toFixed(0)}`);
  return [...parts, ...(driverUs === undefined ? [] : [`(driver ${driverUs.toFixed(0)})`])].join(', ');
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
