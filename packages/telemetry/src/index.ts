export type { Log } from './log.js';
export {
  type Counter,
  counter,
  type Gauge,
  gauge,
  type Histogram,
  histogram,
  metricsContentType,
  renderMetrics,
} from './metrics.js';
export {
  type Attributes,
  annotate,
  type Carrier,
  injectTrace,
  type SpanKind,
  type SpanOptions,
  span,
  startTelemetry,
  traceId,
} from './tracing.js';
