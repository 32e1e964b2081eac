export type { Log } from './log.js';
export {
  type Counter,
  counter,
  type Gauge,
  gauge,
  histogram,
  metricsContentType,
  renderMetrics,
} from './metrics.js';
export { annotate, type Carrier, injectTrace, span, startTelemetry, traceId } from './tracing.js';
