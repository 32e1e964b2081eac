import type { ServerResponse } from 'node:http';

/** One event of a text/event-stream; `data` on one line, as JSON text is. */
export interface StreamedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** An event that goes to many streams is written out once. */
const written = new WeakMap<StreamedEvent, string>();

function write(event: StreamedEvent): string {
  let text = written.get(event);
  if (text === undefined) {
    const id = event.id === '' ? '' : `id: ${event.id}\n`;
    text = `${id}event: ${event.event}\ndata: ${event.data}\n\n`;
    written.set(event, text);
  }
  return text;
}

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  // Proxies of nginx's kind would collect events before they pass them on.
  'X-Accel-Buffering': 'no',
};

/**
 * Sends events as they come (HTML 9.2), no faster than the client reads. The head goes out with the first event, so that a source which refuses
 * can still be answered as a problem, and with the end where there is none. A HEAD ends there.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamedEvent>,
  own: Readonly<Record<string, string>>,
): Promise<void> {
  for await (const event of events) {
    if (response.destroyed || response.req.method === 'HEAD') break;
    begin(response, own);
    if (!response.write(write(event))) await drained(response);
  }
  begin(response, own);
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
