import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { span, startTelemetry, traceId } from '@acsp/telemetry';
import { describeWith, eventually } from '@acsp/testkit';
import { type Broker, natsBroker, postgresBroker } from './brokers.js';
import { harness } from './contract/harness.js';
import { taskEvent } from './task-event.js';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

const spans: Span[] = [];
let collector: Server;

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as Export;
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterAll(() => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  collector.close();
});

describeWith(['own nats', 'postgres'], 'a bus on JetStream', () => carriesTraces(natsBroker));
describeWith('postgres', 'a bus in PostgreSQL', () => carriesTraces(postgresBroker));

function carriesTraces(start: () => Promise<Broker>): void {
  const { name, replica } = harness(start);

  test('the span of a handler is a child of the publication, in the same trace', async () => {
    const telemetry = await startTelemetry('tasks');
    const { bus, titles } = replica();
    const inside: (string | undefined)[] = [];
    const handled = titles({ handle: async () => void inside.push(traceId()) });
    await eventually(() => bus.ready());
    const trace = await span('request', { kind: 'server' }, async () => {
      await bus.publish(name(), [taskEvent('traced')]);
      return traceId();
    });
    await eventually(() => handled.length === 1);
    // Sends what is waiting.
    await telemetry[Symbol.asyncDispose]();
    const ours = spans.filter((each) => each.traceId === trace);
    const find = (wanted: string) => ours.find((each) => each.name === wanted);
    const [request, publication, handling] = ['request', `publish ${name()}`, 'handle task.created'].map(find);
    expect(publication).toMatchObject({ parentSpanId: request?.spanId, kind: 4 });
    expect(handling).toMatchObject({ parentSpanId: publication?.spanId, kind: 5 });
    expect(inside).toEqual([trace]);
  });
}
