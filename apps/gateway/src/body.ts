import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { AppError } from '@acsp/errors';
import { parseBody, queryFields, readBody } from '@acsp/http';
import type { Fields } from '@acsp/operation';
import type { Exchange } from './exchange.js';

/** Throws PAYLOAD_TOO_LARGE or UNSUPPORTED_MEDIA_TYPE by the headers of a body, before any of it is read. */
export function checkBodyHeaders({ headers }: IncomingMessage, maxBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    throw new AppError('PAYLOAD_TOO_LARGE', { detail: `Body over ${maxBytes} bytes` });
  }
  if (headers['content-type'] === undefined && !hasBody(headers)) return;
  if (!isJson(headers['content-type'] ?? '') || (headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  }
}

export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return mediaType === 'application/json' || /^application\/[\w.-]+\+json$/.test(mediaType);
}

/** Requests whose senders wait for 100 Continue before they send a body. */
const waiting = new WeakSet<IncomingMessage>();

/** 100 Continue goes out when something reads the body, so that one that is refused by its head is never sent (RFC 9110, 10.1.1). */
export function deferContinue(request: IncomingMessage): void {
  waiting.add(request);
}

/** The bytes of the body, read at most once. They go on as they came. */
export async function bytesOf(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  const { request, response } = exchange;
  if (waiting.delete(request)) response.writeContinue();
  exchange.body ??= sendAgain(request, await readBody(request, maxBytes));
  return exchange.body;
}

/** The members of a POST's JSON body, or the parameters of the query. Throws INVALID_JSON. */
export async function fieldsOf(exchange: Exchange, maxBytes: number): Promise<Fields> {
  exchange.fields ??=
    exchange.request.method === 'POST' ? parseBody(await bytesOf(exchange, maxBytes)) : queryFields(exchange.target);
  return exchange.fields;
}

/** The proxy takes a body by piping the request; a body that was read already is piped from its buffer. */
function sendAgain(request: IncomingMessage, bytes: Buffer): Buffer {
  const send = (destination: Writable) => (bytes.length === 0 ? destination.end() : destination.end(bytes));
  request.pipe = send as typeof request.pipe;
  return bytes;
}

const nothing = Buffer.alloc(0);

/**
 * A request goes on when its body is there: a service must not begin with one whose rest never comes. Where none is meant, as in a GET, none
 * goes on.
 */
export async function settleBody(exchange: Exchange, maxBytes: number): Promise<void> {
  const { method, headers } = exchange.request;
  if (!hasBody(headers)) return;
  if (method === 'POST') await bytesOf(exchange, maxBytes);
  else exchange.body = sendAgain(exchange.request, nothing);
}

const drainBytes = 8 << 20;
const drainMs = 2_000;

/**
 * Reads on and forgets, so that a client that is still sending gets to see its refusal: closing a connection on unread bytes resets it, and
 * the answer is lost.
 */
export async function drainBody(request: IncomingMessage): Promise<void> {
  // A sender that waits for 100 Continue has sent nothing, and is to see its refusal instead.
  if (request.complete || request.destroyed || (waiting.has(request) && request.readableLength === 0)) return;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    let size = 0;
    timer = setTimeout(resolve, drainMs);
    const forget = (chunk: Buffer) => {
      size += chunk.length;
      if (size > drainBytes) resolve();
    };
    request.on('data', forget).resume();
    for (const end of ['end', 'error', 'close']) request.once(end, () => resolve());
  });
  clearTimeout(timer);
}
