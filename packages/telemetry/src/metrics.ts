import * as prometheus from 'prom-client';

type Labels<L extends string> = Partial<Record<L, string | number>>;

/** `inc()` adds 1. Labels first where there are any. */
export interface Counter<L extends string = never> {
  inc(labels: Labels<L>, by?: number): void;
  inc(by?: number): void;
}

export interface Gauge<L extends string = never> extends Counter<L> {
  set(labels: Labels<L>, value: number): void;
  set(value: number): void;
  dec(labels: Labels<L>, by?: number): void;
  dec(by?: number): void;
  /** Ends the export of one series: a replica that stops leading stops saying what a leader sees. */
  remove(labels: Labels<L>): void;
}

/** Durations are observed in seconds, Prometheus' base unit. */
export interface Histogram<L extends string = never> {
  observe(labels: Labels<L>, value: number): void;
  observe(value: number): void;
}

const registry = new prometheus.Registry();
let processMetrics = false;

/** From a cached read to a request that is about to time out. */
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A counter by its name; every call with the same name answers the same counter. Names end in `_total`. */
export function counter<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Counter<L> {
  return once(name, () => new prometheus.Counter<L>({ name, help, labelNames: labels, registers: [registry] }));
}

/** A gauge by its name; every call with the same name answers the same gauge. */
export function gauge<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Gauge<L> {
  return once(name, () => new prometheus.Gauge<L>({ name, help, labelNames: labels, registers: [registry] }));
}

/** A histogram of seconds by its name; every call with the same name answers the same histogram. */
export function histogram<L extends string = never>(
  name: string,
  help: string,
  labels: readonly L[] = [],
): Histogram<L> {
  const options = { name, help, labelNames: labels, buckets: secondsBuckets, registers: [registry] };
  return once(name, () => new prometheus.Histogram<L>(options));
}

export const metricsContentType: string = registry.contentType;

const scrapers = new Set<() => void>();

/** Calls `read` before each scrape, for gauges that cost something to keep up to date. Answers how to end it. */
export function onScrape(read: () => void): () => void {
  scrapers.add(read);
  return () => scrapers.delete(read);
}

/** All metrics of the process in Prometheus' text format, those of Node included. */
export function renderMetrics(): Promise<string> {
  // The process metrics keep a timer and a GC observer running, so a process that nobody scrapes does without them.
  if (!processMetrics) prometheus.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  processMetrics = true;
  for (const read of scrapers) read();
  return registry.metrics();
}

function once<M extends object>(name: string, create: () => M): M {
  const existing = registry.getSingleMetric(name);
  return existing === undefined ? create() : (existing as unknown as M);
}
