import { once } from 'node:events';
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
 * Sends events as they come (HTML 9.2), no faster than the client reads. The head goes out with the first event or at once where none is there, so
 * that a refusal of the source can still be answered as a problem: the first event is awaited before anything is sent.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<StreamedEvent>,
  own: Readonly<Record<string, string>>,
): Promise<void> {
  const closed = once(response, 'close');
  for await (const event of events) {
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, { ...headers, ...own }).write('retry: 2000\n\n');
    if (!response.write(write(event))) await Promise.race([once(response, 'drain'), closed]);
  }
  if (!response.headersSent) response.writeHead(200, { ...headers, ...own });
  response.end();
}
