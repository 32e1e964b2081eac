import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { AppError } from '@acsp/errors';
import { parseBody, queryFields, readBody } from '@acsp/http';
import type { Fields } from '@acsp/rpc';
import type { Exchange } from './exchange.js';

export const standardBodyBytes = 64 * 1024;

/** What the headers tell of a body: throws PAYLOAD_TOO_LARGE or UNSUPPORTED_MEDIA_TYPE before any of it is read. */
export function checkBodyHeaders({ headers }: IncomingMessage, maxBytes: number): void {
  const length = headers['content-length'];
  if (Number(length ?? 0) > maxBytes) throw new AppError('PAYLOAD_TOO_LARGE', { detail: `Body over ${maxBytes} bytes` });
  const empty = headers['transfer-encoding'] === undefined && (length === undefined || length === '0');
  if (empty && headers['content-type'] === undefined) return;
  if (!isJson(headers['content-type'] ?? '') || (headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  }
}

function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return mediaType === 'application/json' || /^application\/[\w.-]+\+json$/.test(mediaType);
}

/** The bytes of the body, read at most once. They go on as they came. */
export async function bytesOf(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  exchange.body ??= sendAgain(exchange.request, await readBody(exchange.request, maxBytes));
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
  request.pipe = <Destination extends Writable>(destination: Destination) => {
    destination.end(bytes);
    return destination;
  };
  return bytes;
}

const nothing = Buffer.alloc(0);

/** A body where none is meant, such as a GET's, stays here. */
export function dropBody(exchange: Exchange): void {
  exchange.body = sendAgain(exchange.request, nothing);
}

const drainBytes = 8 << 20;
const drainMs = 2_000;

/**
 * Reads on and forgets, so that a client that is still sending gets to see the refusal: a connection that is closed on unread bytes is reset,
 * and the answer with it.
 */
export async function drainBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    let size = 0;
    const timer = setTimeout(resolve, drainMs);
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > drainBytes) resolve();
    });
    request.once('close', resolve).once('end', resolve).once('error', resolve);
    request.once('close', () => clearTimeout(timer));
  });
}
