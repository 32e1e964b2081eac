import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Carrier, SpanOptions, Tracing } from './tracing.js';

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** How long a stop waits for a collector that does not answer. */
const flushTimeoutMs = 3_000;

export function createOtlpTracing(service: string): Tracing {
  const provider = new NodeTracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over our own name, as operators expect.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service, 'service.namespace': 'acsp' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  // Trace context only: baggage would carry what strangers send to every service.
  provider.register({ propagator: new W3CTraceContextPropagator() });
  const tracer = trace.getTracer('acsp');

  return {
    span: (name, options, run) =>
      tracer.startActiveSpan(name, spanSettings(options), parentContext(options.parent), async (active) => {
        try {
          return await run();
        } catch (error) {
          active.setAttribute('error.type', errorType(error)).setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          active.end();
        }
      }),
    annotate: (attributes) => {
      trace.getActiveSpan()?.setAttributes(attributes);
    },
    inject: (carrier) => propagation.inject(context.active(), carrier),
    traceId: () => trace.getActiveSpan()?.spanContext().traceId,
    [Symbol.asyncDispose]: async () => {
      trace.disable();
      context.disable();
      propagation.disable();
      await withinTime(provider.shutdown());
    },
  };
}

const spanSettings = ({ kind = 'internal', attributes }: SpanOptions) => ({
  kind: kinds[kind],
  ...(attributes !== undefined && { attributes }),
});

function parentContext(parent: Carrier | undefined) {
  return parent === undefined ? context.active() : propagation.extract(context.active(), parent);
}

function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.name;
}

/** A collector that is away must neither fail nor hold up a stop; its spans are lost. */
async function withinTime(flushed: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, flushTimeoutMs);
  });
  await Promise.race([flushed.catch(() => {}), late]);
  clearTimeout(timer);
}
