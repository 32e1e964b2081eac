import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, toProblem } from '@acsp/errors';

/** Statuses of faults that Node's parser finds before there is a request; the catalogue has no codes of their own for them. */
const statuses: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Answers what is not HTTP, has too large a head or comes too slowly, with a problem like every other refusal. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ''] ?? 400;
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
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
