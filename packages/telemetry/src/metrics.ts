import * as prometheus from 'prom-client';

type Labels<L extends string> = Partial<Record<L, string | number>>;

/** `inc()` adds 1. Labels first where there are any. */
export interface Counter<L extends string = never> {
  inc(labels: Labels<L>, by?: number): void;
  inc(by?: number): void;
}

export interface Gauge<L extends string = never> {
  /**
   * Exports one series, whose value is read at each scrape. Exports with the same labels are one series with their sum, such as the pools of two
   * stores. Undefined ends an export: a replica that stops leading stops saying what a leader sees.
   */
  export(labels: Labels<L>, read: () => number | undefined): void;
}

/** Durations are observed in seconds, Prometheus' base unit. */
export interface Histogram<L extends string = never> {
  observe(labels: Labels<L>, value: number): void;
  observe(value: number): void;
}

const registry = new prometheus.Registry();
const gauges = new Map<string, Gauge<string>>();
/** Each writes the series of a gauge as they are now. */
const scrapers = new Set<() => void>();
let processMetrics = false;

/** From a cached read to a request that is about to time out. */
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A counter by its name; every call with the same name answers the same counter. Names end in `_total`. */
export function counter<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Counter<L> {
  return once(name, () => new prometheus.Counter<L>({ name, help, labelNames: labels, registers: [registry] }));
}

/** A gauge by its name; every call with the same name exports series of the same gauge. */
export function gauge<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Gauge<L> {
  const existing = gauges.get(name);
  if (existing !== undefined) return existing as Gauge<L>;
  const series = new prometheus.Gauge<L>({ name, help, labelNames: labels, registers: [registry] });
  const exports = new Map<() => number | undefined, Labels<L>>();
  scrapers.add(() => {
    series.reset();
    for (const [read, of] of exports) {
      const value = read();
      if (value === undefined) exports.delete(read);
      else series.inc(of, value);
    }
  });
  const created: Gauge<L> = { export: (of, read) => void exports.set(read, of) };
  gauges.set(name, created as Gauge<string>);
  return created;
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

/** All metrics of the process in Prometheus' text format, those of Node included. */
export function renderMetrics(): Promise<string> {
  // The process metrics keep a timer and a GC observer running, so a process that nobody scrapes does without them.
  if (!processMetrics) prometheus.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  processMetrics = true;
  for (const scrape of scrapers) scrape();
  return registry.metrics();
}

function once<M extends object>(name: string, create: () => M): M {
  const existing = registry.getSingleMetric(name);
  return existing === undefined ? create() : (existing as unknown as M);
}
