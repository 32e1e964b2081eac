import { createServer } from 'node:http';
import { eventually } from '@acsp/testkit';
import {
  createOpenStreams,
  type EventSink,
  type OpenServer,
  type OpenStreams,
  openServer,
  pushedEvents,
  sendEvents,
} from '../src/index.js';

let server: OpenServer;
let streams: OpenStreams;
let sink: EventSink;
let closed: number;

const note = (id: string) => ({ id, event: 'note', data: '{}' });
const { signal } = new AbortController();

beforeEach(async () => {
  closed = 0;
  streams = createOpenStreams();
  const source = createServer((request, response) => {
    const events = pushedEvents({ signal }, async (opened) => {
      sink = opened;
      sink.write(note('1'));
      return () => {
        closed += 1;
        sink.write(note('last'));
        sink.end();
      };
    });
    void sendEvents(response, events, { own: { 'X-Url': request.url ?? '' }, streams });
  });
  server = await openServer(source, { port: 0, host: '127.0.0.1', drainMs: 1_000 });
});
afterEach(() => server[Symbol.asyncDispose]());

const open = async (client = new AbortController()) => {
  const response = await fetch(`${server.url}/notes?token=secret`, { signal: client.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  return { response, client, read: async () => (await reader.read()).value };
};

test('a pushed stream brings what its source writes, when it writes it, until the source ends it', async () => {
  const { response, read } = await open();
  expect(response.headers.get('x-url')).toBe('/notes?token=secret');
  let text = '';
  const until = (id: string) =>
    eventually(async () => {
      text += await read();
      return text.includes(`id: ${id}\n`);
    });
  await until('1');
  sink.write(note('2'));
  await until('2');
  sink.end();
  expect(await read()).toBeUndefined();
  expect(text).toBe('retry: 2000\n\nid: 1\nevent: note\ndata: {}\n\nid: 2\nevent: note\ndata: {}\n\n');
});

test('the source of a pushed stream hears once that its client has gone, and what it writes then is lost', async () => {
  const { client } = await open();
  client.abort();
  await eventually(() => closed === 1);
  streams.closeAll();
  expect(closed).toBe(1);
});

test('pushed streams are closed when the server drains, those that are opened later at once', async () => {
  const { read } = await open();
  streams.closeAll();
  const later = await open();
  for (const stream of [read, later.read]) {
    let text = '';
    for (let part = await stream(); part !== undefined; part = await stream()) text += part;
    expect(text).toContain('id: last\n');
  }
});
