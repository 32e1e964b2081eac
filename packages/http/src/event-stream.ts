import type { ServerResponse } from 'node:http';

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

/** Events that their source writes itself when they come: one source can serve thousands of streams from a loop. */
export interface PushedEvents extends AsyncIterable<StreamedEvent> {
  readonly [push]: (sink: EventSink) => Promise<void>;
}

/** `open` resolves once the stream is open, or rejects where it is refused; from then on its source ends the sink, and hears of its client by the signal of the call. */
export function pushedEvents(open: (sink: EventSink) => Promise<void>): PushedEvents {
  return { [push]: open, [Symbol.asyncIterator]: () => pull(open) };
}

/** The same events for a reader that asks for each. The source sees how much waits, as with a client that is slow. */
async function* pull(open: (sink: EventSink) => Promise<void>): AsyncGenerator<StreamedEvent> {
  const queue: StreamedEvent[] = [];
  let [waiting, ended, wake] = [0, false, () => {}];
  await open({
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
 * and with the end where there is none. A HEAD ends there. Resolves with the end of the stream; events that are pulled come no faster than the client reads.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamedEvent> | PushedEvents,
  own: Readonly<Record<string, string>>,
): Promise<void> {
  if (push in events) return sendPushed(response, events, own);
  for await (const event of events) {
    if (response.destroyed || response.req.method === 'HEAD') break;
    begin(response, own);
    if (!response.write(write(event))) await drained(response);
  }
  begin(response, own);
  response.end();
}

/** A client that has not read the end by then has its connection closed. */
const lingerMs = 10_000;

async function sendPushed(
  response: ServerResponse,
  events: PushedEvents,
  own: Readonly<Record<string, string>>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  await events[push]({
    write(event) {
      if (response.destroyed || response.writableEnded) return;
      begin(response, own);
      if (response.req.method === 'HEAD') response.end();
      else response.write(write(event));
    },
    waiting: () => response.writableLength,
    end() {
      if (response.writableEnded) return;
      begin(response, own);
      response.end();
      const late = setTimeout(() => response.destroy(), lingerMs);
      void closed.then(() => clearTimeout(late));
    },
  });
  await closed;
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
