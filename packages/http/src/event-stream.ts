import type { IncomingMessage, ServerResponse } from 'node:http';

/** One event of a text/event-stream; `data` on one line, as JSON text is. */
export interface StreamedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Takes the events of one stream, whether the client reads or not. */
export interface EventSink {
  write(event: StreamedEvent): void;
  /** The bytes that the client has not taken yet. */
  waiting(): number;
  end(): void;
}

const push = Symbol('push');

/**
 * Opens a stream: resolves once it is open, or rejects where it is refused. From then on its source ends the sink; it is called, by what `open`
 * resolved with, when the client goes or the process drains.
 */
export type OpenPushed = (sink: EventSink) => Promise<() => void>;

/** Events that their source writes itself when they come: one source can serve thousands of streams from a loop. */
export interface PushedEvents extends AsyncIterable<StreamedEvent> {
  readonly [push]: OpenPushed;
}

/** `call` is one whose signal ends the stream where its events are pulled; pushed ones need none, which would cost a stream 1 KiB. */
export function pushedEvents(call: { readonly signal: AbortSignal }, open: OpenPushed): PushedEvents {
  return { [push]: open, [Symbol.asyncIterator]: () => pull(call.signal, open) };
}

/** The same events for a reader that asks for each. The source sees how much waits, as with a client that is slow. */
async function* pull(signal: AbortSignal, open: OpenPushed): AsyncGenerator<StreamedEvent> {
  const queue: StreamedEvent[] = [];
  let [waiting, ended, wake] = [0, false, () => {}];
  const close = await open({
    write(event) {
      if (ended) return;
      queue.push(event);
      waiting += event.data.length;
      wake();
    },
    waiting: () => waiting,
    end() {
      ended = true;
      wake();
    },
  });
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });
  try {
    for (;;) {
      for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
        waiting -= event.data.length;
        yield event;
      }
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    // The reader may have enough before the stream ends.
    signal.removeEventListener('abort', close);
    close();
  }
}

/** The pushed streams of a server. */
export interface OpenStreams {
  readonly add: (close: () => void) => void;
  readonly delete: (close: () => void) => void;
  /** Closes all, and from now on each that is added. */
  readonly closeAll: () => void;
}

export function createOpenStreams(): OpenStreams {
  const open = new Set<() => void>();
  let closing = false;
  return {
    add: (close) => (closing ? close() : void open.add(close)),
    delete: (close) => void open.delete(close),
    closeAll() {
      closing = true;
      for (const close of open) close();
    },
  };
}

/** An event that goes to many streams is written out once. */
const written = new WeakMap<StreamedEvent, Buffer>();

function write(event: StreamedEvent): Buffer {
  let bytes = written.get(event);
  if (bytes === undefined) {
    const id = event.id === '' ? '' : `id: ${event.id}\n`;
    bytes = Buffer.from(`${id}event: ${event.event}\ndata: ${event.data}\n\n`);
    written.set(event, bytes);
  }
  return bytes;
}

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  // Proxies of nginx's kind would collect events before they pass them on.
  'X-Accel-Buffering': 'no',
};

/**
 * Sends events as they come (HTML 9.2). The head goes out with the first event, so that a source which refuses can still be answered as a problem,
 * and with the end where there is none. Resolves with the end of the stream, and no faster than the client reads, where events are
 * pulled; where they are pushed as soon as it is open, so that thousands of streams hold no call that waits (3 KiB each).
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamedEvent> | PushedEvents,
  { own, streams }: { readonly own: Readonly<Record<string, string>>; readonly streams: OpenStreams },
): Promise<void> {
  if (response.req.method === 'HEAD') return sendHead(response, own);
  if (push in events) return sendPushed(response, await events[push](sinkOf(response, own)), streams);
  for await (const event of events) {
    if (response.destroyed) break;
    begin(response, own);
    if (!response.write(write(event))) await drained(response);
  }
  begin(response, own);
  response.end();
}

/** A client that has not read the end by then has its connection closed. */
const lingerMs = 10_000;

function sinkOf(response: ServerResponse, own: Readonly<Record<string, string>>): EventSink {
  return {
    write(event) {
      if (response.destroyed || response.writableEnded) return;
      begin(response, own);
      response.write(write(event));
    },
    waiting: () => response.writableLength,
    end() {
      if (response.destroyed || response.writableEnded) return;
      begin(response, own);
      response.end();
      const late = setTimeout(() => response.destroy(), lingerMs);
      response.once('close', () => clearTimeout(late));
    },
  };
}

function sendPushed(response: ServerResponse, close: () => void, streams: OpenStreams): void {
  forgetRequest(response.req);
  const gone = () => {
    streams.delete(close);
    close();
  };
  if (response.destroyed) gone();
  else {
    streams.add(close);
    response.on('close', gone);
  }
}

/** A stream outlives what was asked for: a target with its token, and headers, take 1 KiB. */
function forgetRequest(request: IncomingMessage): void {
  request.url = '';
  request.headers = {};
  request.rawHeaders = [];
}

/** A HEAD opens nothing. */
function sendHead(response: ServerResponse, own: Readonly<Record<string, string>>): void {
  response.writeHead(200, { ...headers, ...own });
  response.end();
}

function begin(response: ServerResponse, own: Readonly<Record<string, string>>): void {
  if (response.headersSent) return;
  response.writeHead(200, { ...headers, ...own });
  response.write('retry: 2000\n\n');
}

/** Waits while the client reads slower than we write. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    if (response.destroyed) resolve();
    else response.once('drain', done).once('close', done);
  });
}
