import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError, toProblem } from '@acsp/errors';
import { whenAnswered } from './turns.js';

/** Statuses of faults that Node's parser finds before there is a request; the catalogue has no codes of their own for them. */
const statuses: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Node reports a fault again with every further piece that comes in. */
const reported = new WeakSet<Duplex>();

/**
 * Answers what is not HTTP, has too large a head or comes too slowly, with a problem like every other refusal, behind the answers to the
 * requests that came before it. A connection that nothing was sent on is closed without a word.
 */
export async function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): Promise<void> {
  if (reported.has(socket)) return;
  reported.add(socket);
  const idle = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0;
  if (!idle && error.code !== 'ECONNRESET') await whenAnswered(socket);
  if (idle || error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else socket.end(refusal(error));
}

function refusal({ code: fault = '' }: NodeJS.ErrnoException): string {
  const status = statuses[fault] ?? 400;
  const requestId = randomUUID();
  const title = STATUS_CODES[status] ?? '';
  const code = status === 431 ? 'PAYLOAD_TOO_LARGE' : 'INVALID_FIELD';
  const body = JSON.stringify({ ...toProblem(new AppError(code, { detail: title }), requestId), title, status });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
