import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AppError } from '@acsp/errors';
import type { Exchange } from '../exchange.js';

/** What a service answered, read whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Headers of the connection between gateway and service, and those that the gateway sets itself. */
const ownHeaders = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade', 'date', 'x-powered-by', 'x-request-id'],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'ratelimit', 'ratelimit-policy', 'vary'],
]);

/** Passes a service's answer on as it comes in. What breaks off there breaks off here. */
export function streamAnswer(exchange: Exchange, answer: IncomingMessage): void {
  const { response } = exchange;
  const { statusCode = 502, headers } = answer;
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !ownHeaders.has(name)) response.setHeader(name, value);
  }
  response.statusCode = statusCode;
  if (statusCode >= 400) noteCode(exchange, headers, answer);
  answer.once('error', () => response.destroy());
  response.once('close', () => answer.destroy());
  if (headers['content-type'] === 'text/event-stream') response.flushHeaders();
  answer.pipe(response);
}

export function sendWhole(exchange: Exchange, { status, contentType, body }: WholeAnswer): void {
  const { response } = exchange;
  if (status >= 400) exchange.code = codeIn(body);
  const headers = { 'content-type': contentType, 'content-length': body.length, 'cache-control': 'no-store' };
  response.writeHead(status, headers).end(body);
}

/** Reads an answer to its end. Rejects with SERVICE_UNAVAILABLE when it breaks off. */
export async function readWhole(answer: IncomingMessage): Promise<WholeAnswer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', { cause });
  }
  const { statusCode: status = 502, headers } = answer;
  return { status, contentType: headers['content-type'] ?? '', body: Buffer.concat(chunks) };
}

/** Notes the code of a problem for log and metrics; problems are small, so that it is in the first bytes. */
function noteCode(exchange: Exchange, headers: IncomingHttpHeaders, answer: IncomingMessage): void {
  if (headers['content-type'] !== 'application/problem+json') return;
  answer.once('data', (chunk: Buffer) => {
    exchange.code = codeIn(chunk);
  });
}

const codeIn = (body: Buffer) => /"code":"([A-Z_]+)"/.exec(body.toString('latin1'))?.[1];
