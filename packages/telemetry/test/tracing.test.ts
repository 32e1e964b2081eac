import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { annotate, injectTrace, span, startTelemetry, traceId } from '../src/index.js';

interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

const received: ReceivedSpan[] = [];
const resources: string[] = [];
let collector: Server;
let telemetry: AsyncDisposable;

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString());
    for (const { resource, scopeSpans } of resourceSpans) {
      resources.push(JSON.stringify(resource));
      for (const { spans } of scopeSpans) received.push(...spans);
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
});

afterAll(() => collector.close());

test('without an endpoint spans only run their work, and nothing of OpenTelemetry is on', async () => {
  await using _ = await startTelemetry('tasks');
  const carrier: Record<string, string> = {};
  const answer = await span('work', { kind: 'server' }, async () => {
    injectTrace(carrier);
    annotate({ code: 200 });
    return traceId();
  });
  expect(answer).toBeUndefined();
  expect(carrier).toEqual({});
});

describe('with an endpoint', () => {
  beforeAll(async () => {
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    telemetry = await startTelemetry('tasks');
  });
  afterAll(() => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  });

  test('spans join across a carrier, and leave when telemetry stops', async () => {
    const carrier: Record<string, string> = {};
    const id = await span('outer', { kind: 'client', attributes: { peer: 'search' } }, async () => {
      injectTrace(carrier);
      return traceId();
    });
    await span('inner', { kind: 'server', parent: carrier }, async () => annotate({ route: '/a' }));
    await expect(
      span('failing', { parent: carrier }, async () => {
        throw Object.assign(new Error('login_key nk_secret'), { code: 'TASK_NOT_OPEN' });
      }),
    ).rejects.toThrow('nk_secret');
    await telemetry[Symbol.asyncDispose]();

    const [outer, inner, failing] = ['outer', 'inner', 'failing'].map((name) => received.find((s) => s.name === name));
    expect(carrier.traceparent).toBe(`00-${id}-${outer?.spanId}-01`);
    expect(outer).toMatchObject({
      traceId: id,
      kind: 3,
      attributes: [{ key: 'peer', value: { stringValue: 'search' } }],
    });
    expect(inner).toMatchObject({ traceId: id, parentSpanId: outer?.spanId, kind: 2 });
    expect(inner?.attributes).toEqual([{ key: 'route', value: { stringValue: '/a' } }]);
    expect(failing?.status).toEqual({ code: 2 });
    expect(failing?.attributes).toEqual([{ key: 'error.type', value: { stringValue: 'TASK_NOT_OPEN' } }]);
    expect(JSON.stringify(received)).not.toContain('nk_secret');
    expect(resources[0]).toContain('"tasks"');
    expect(traceId()).toBeUndefined();
  });

  test('a collector that is away does not hold up a stop', async () => {
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:1';
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '300';
    const lost = await startTelemetry('tasks');
    await span('lost', {}, async () => {});
    await expect(lost[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});
