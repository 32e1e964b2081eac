import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError, type ErrorCode, toProblem } from '@acsp/errors';
import { allMethods } from './find-route.js';
import { faultOfLine, type ParserFault } from './request-line.js';
import { whenAnswered } from './turns.js';

/** Faults that Node's parser finds before there is a request; the catalogue has no codes of their own for their statuses. */
const refusals: Readonly<Record<string, readonly [code: ErrorCode, status: number]>> = {
  HPE_HEADER_OVERFLOW: ['PAYLOAD_TOO_LARGE', 431],
  ERR_HTTP_REQUEST_TIMEOUT: ['INVALID_FIELD', 408],
};

/** Node reports a fault again with every further piece that comes in. */
const reported = new WeakSet<Duplex>();

/**
 * Answers what is not HTTP, has too large a head or comes too slowly, with a problem like every other refusal, behind the answers to the
 * requests that came before it. A connection that nothing was sent on is closed without a word.
 */
export async function answerClientError(fault: ParserFault, socket: Duplex): Promise<void> {
  if (reported.has(socket)) return;
  reported.add(socket);
  const late = fault.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const idle = late && (socket as Socket).bytesRead === 0;
  if (!idle && fault.code !== 'ECONNRESET') await whenAnswered(socket);
  if (idle || fault.code === 'ECONNRESET') socket.destroy();
  else close(socket, refusalOf(fault));
  // The parser goes on: a rest that came after the answer would make the request whole, and it would be carried out.
  if (late) (socket as Socket).destroySoon();
}

/** Answers CONNECT, which Node hands over with its bare connection: this server is no proxy (RFC 9110, 9.3.6). */
export async function answerConnect(_: IncomingMessage, socket: Duplex): Promise<void> {
  // Nobody else listens to the connection any more.
  socket.on('error', () => {}).resume();
  await whenAnswered(socket);
  const error = new AppError('METHOD_NOT_ALLOWED');
  close(socket, textOf(405, toProblem(error, randomUUID()), [`Allow: ${allMethods}`]));
}

const lingerMs = 1_000;

/** The client gets a moment to read the answer and to close its side; one that does not must not keep the server from ending (RFC 9112, 9.6). */
function close(socket: Duplex, text: string): void {
  if (!socket.writable) return void socket.destroy();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer)).end(text);
}

function refusalOf(fault: ParserFault): string {
  const inLine = faultOfLine(fault);
  if (inLine !== undefined) {
    const problem = toProblem(new AppError(inLine), randomUUID());
    return textOf(problem.status, problem);
  }
  const [code, status] = refusals[fault.code ?? ''] ?? ['INVALID_FIELD', 400];
  const title = STATUS_CODES[status] ?? '';
  return textOf(status, { ...toProblem(new AppError(code, { detail: title }), randomUUID()), title, status });
}

function textOf(status: number, problem: ReturnType<typeof toProblem>, headers: readonly string[] = []): string {
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${problem.request_id}`,
    ...headers,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
