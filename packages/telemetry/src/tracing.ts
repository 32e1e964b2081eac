/** The carrier of a trace context: HTTP headers, gRPC metadata or NATS headers as a plain object with lower-case keys. */
export type Carrier = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export interface SpanOptions {
  /** `internal` when absent. */
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** The caller's context. Without it the span is a child of the active one, or starts a trace. */
  readonly parent?: Carrier;
}

/** Tracing once it is on. The OpenTelemetry packages stay behind this, unloaded while it is off. */
export interface Tracing extends AsyncDisposable {
  span<T>(name: string, options: SpanOptions, run: () => Promise<T>): Promise<T>;
  annotate(attributes: Attributes): void;
  inject(carrier: Record<string, string>): void;
  traceId(): string | undefined;
}

let tracing: Tracing | undefined;

const off: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

/**
 * Turns tracing on when `OTEL_EXPORTER_OTLP_ENDPOINT` is set: OTLP over HTTP, so the collector's port 4318. Sampling, headers and further
 * resource attributes follow OpenTelemetry's own variables. Disposing sends what is waiting and turns tracing off. A process has one
 * tracer; a second call while it is on does nothing.
 */
export async function startTelemetry(service: string): Promise<AsyncDisposable> {
  if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) return off;
  const { createOtlpTracing } = await import('./otlp-tracing.js');
  if (tracing !== undefined) return off;
  const started = createOtlpTracing(service);
  tracing = started;
  return {
    [Symbol.asyncDispose]: async () => {
      if (tracing === started) tracing = undefined;
      await started[Symbol.asyncDispose]();
    },
  };
}

/**
 * Runs `run` inside a span. When it rejects, the span ends as an error with `error.type` (the error's code or class) and the error goes on;
 * messages and stacks stay out of traces because they may quote what a caller sent.
 */
export function span<T>(name: string, options: SpanOptions, run: () => Promise<T>): Promise<T> {
  return tracing === undefined ? run() : tracing.span(name, options, run);
}

/** Adds attributes to the active span, such as a status known only at the end. */
export function annotate(attributes: Attributes): void {
  tracing?.annotate(attributes);
}

/** Writes the active context as `traceparent` and `tracestate` (W3C Trace Context) into outgoing headers. */
export function injectTrace(carrier: Record<string, string>): void {
  tracing?.inject(carrier);
}

/** The active trace in 32 hex characters, for log lines; undefined while tracing is off or outside a span. */
export function traceId(): string | undefined {
  return tracing?.traceId();
}
