import { renderMetrics } from '@acsp/telemetry';
import { anonymous, eventually, startService, type TestService } from '@acsp/testkit';
import { createPeer, type Peer } from '../src/index.js';
import { TrialService } from './generated/proto/acsp/trial/v1/trial_pb.js';
import { type Context, trial } from './trial/service.js';

let service: TestService<Context>;
let peer: Peer<typeof TrialService>;

beforeEach(async () => {
  service = await startService(trial);
  const { address, principals } = service;
  peer = createPeer(TrialService, { address, principals, name: 'caller' });
});
afterEach(async () => {
  peer[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const { signal: never } = new AbortController();

/** Opens a stream at the public door; `read` gives what has come since. */
async function open(request: string, headers: Record<string, string> = {}, signal: AbortSignal = never) {
  const response = await service.send(anonymous, request, { headers, signal });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  const rest = async () => {
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    return text;
  };
  return { response, read: async () => (await reader.read()).value, rest };
}

async function take(items: AsyncIterable<{ readonly id: string }>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of items) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return ids;
}

const seen = () => service.context.seen;

describe('over HTTP', () => {
  test('events come as text/event-stream, unbuffered, with the headers of the operation', async () => {
    const { response, rest } = await open('GET /events?count=2');
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-stream': 'trial',
    });
    expect(await rest()).toBe('retry: 2000\n\nid: 1\nevent: note\ndata: {}\n\nid: 2\nevent: note\ndata: {}\n\n');
  });

  test('a stream resumes where the browser says that it stopped', async () => {
    const { rest } = await open('GET /events?count=1&last_event_id=3', { 'last-event-id': '6' });
    expect(await rest()).toContain('id: 7\n');
    const { rest: fromQuery } = await open('GET /events?count=1&last_event_id=3', { 'last-event-id': '' });
    expect(await fromQuery()).toContain('id: 4\n');
  });

  test('a stream without events ends at once', async () => {
    const { response, rest } = await open('GET /events?count=0');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await rest()).toBe('retry: 2000\n\n');
  });

  test('HEAD has the headers of the stream and opens none', async () => {
    const response = await service.send(anonymous, 'HEAD /events?how=flood');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe('');
    expect(seen().items).toBe(0);
  });

  test('a refusal before the first event is a problem', async () => {
    expect(await service.call(anonymous, 'GET /events?how=refuse')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_EVENT_ID' },
    });
    expect(await service.call(anonymous, 'GET /events?count=many')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD' },
    });
    expect(await service.call(anonymous, 'GET /events?how=fail')).toMatchObject({ status: 503 });
  });

  test('a stream that fails after its first event breaks off, so that the client knows', async () => {
    const { read, rest } = await open('GET /events?count=1&how=break');
    await read();
    seen().gate.open();
    await expect(rest()).rejects.toThrow('terminated');
    expect(await renderMetrics()).toMatch(/door="public",operation="WatchNotes",code="INTERNAL_ERROR"\} 1/);
  });

  test('a stream ends when the client goes', async () => {
    const client = new AbortController();
    const { read } = await open('GET /events?count=1&how=open', {}, client.signal);
    await read();
    expect(seen().ended).toBe(0);
    client.abort();
    await eventually(() => seen().ended === 1);
  });

  test('a client that reads slowly holds the stream up', async () => {
    const client = new AbortController();
    const { read } = await open('GET /events?how=flood', {}, client.signal);
    await read();
    const stopped = await standstill();
    expect(stopped).toBeLessThan(2_000);
    client.abort();
    await eventually(() => seen().ended === 1);
  });

  test.each(['open', 'throws'])(
    'a stream ends whole as soon as the process drains, however its source ends: %s',
    async (how) => {
      const { read, rest } = await open(`GET /events?count=1&how=${how}`);
      await read();
      const startedAt = Date.now();
      await service.running[Symbol.asyncDispose]();
      expect(await rest()).toBe('');
      expect(Date.now() - startedAt).toBeLessThan(4_000);
    },
  );
});

describe('over gRPC', () => {
  test('items come as messages, and a stream that was left ends', async () => {
    expect(await take(peer.watchNotes({ count: 2, last_event_id: '4' }), 9)).toEqual(['5', '6']);
    expect(await take(peer.watchNotes({ count: 1, how: 'open' }), 1)).toEqual(['1']);
    await eventually(() => seen().ended === 2);
  });

  test('a refusal before the first item, and a fault after it, are errors of the iteration', async () => {
    await expect(take(peer.watchNotes({ count: 1, how: 'refuse' }), 1)).rejects.toMatchObject({
      code: 'INVALID_EVENT_ID',
    });
    seen().gate.open();
    await expect(take(peer.watchNotes({ count: 1, how: 'break' }), 2)).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
    });
    const metrics = await renderMetrics();
    expect(metrics).toMatch(/door="contract",operation="WatchNotes",code="INVALID_EVENT_ID"\} 1/);
    expect(metrics).toMatch(/door="contract",operation="WatchNotes",code="INTERNAL_ERROR"\} 1/);
  });

  test('a client that reads slowly holds the stream up', async () => {
    const items = peer.watchNotes({ count: 0, how: 'flood' })[Symbol.asyncIterator]();
    await items.next();
    expect(await standstill()).toBeLessThan(2_000);
    await items.return?.();
    await eventually(() => seen().ended === 1);
  });

  test('a stream ends with the signal and with the deadline of the call that it serves', async () => {
    const client = new AbortController();
    const caller = anonymous;
    const stream = (deadline: number) =>
      take(peer.watchNotes({ count: 1, how: 'open' }, { call: { caller, deadline, signal: client.signal } }), 2);
    await expect(stream(Date.now() + 300)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await eventually(() => seen().ended === 1);
    const open = stream(Number.POSITIVE_INFINITY);
    await eventually(() => seen().items === 2);
    client.abort();
    await expect(open).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await eventually(() => seen().ended === 2);
  });

  test('a stream ends whole as soon as the process drains', async () => {
    const ids = take(peer.watchNotes({ count: 1, how: 'open' }), 2);
    await eventually(() => seen().items === 1);
    const startedAt = Date.now();
    await service.running[Symbol.asyncDispose]();
    expect(await ids).toEqual(['1']);
    expect(Date.now() - startedAt).toBeLessThan(4_000);
  });
});

/** How many items a source has made when it makes no more. */
async function standstill(): Promise<number> {
  let before = -1;
  await eventually(
    () => {
      const still = seen().items === before;
      before = seen().items;
      return still;
    },
    { intervalMs: 200 },
  );
  return before;
}
