import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { AppError } from '@acsp/errors';
import type { Exchange } from '../exchange.js';

/** What a service answered, read whole. */
export interface WholeAnswer {
  readonly statusCode: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** Headers of the connection between gateway and service, and those that the gateway sets itself. */
const ownHeaders = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade', 'date', 'x-powered-by', 'x-request-id'],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'ratelimit', 'ratelimit-policy'],
]);

/** Passes a service's answer on as it comes in. What breaks off there breaks off here; throws SERVICE_UNAVAILABLE when it already has. */
export function streamAnswer(exchange: Exchange, answer: IncomingMessage): void {
  const { response, headers } = exchange;
  if (response.destroyed) {
    answer.destroy();
    return;
  }
  // While its signature was given back nobody listened: no event will tell.
  if (answer.destroyed && !answer.complete) throw new AppError('SERVICE_UNAVAILABLE');
  const { statusCode = 502 } = answer;
  for (const name in answer.headers) {
    if (!ownHeaders.has(name)) headers[name] = answer.headers[name];
  }
  if (statusCode >= 400) noteCode(exchange, answer);
  answer.once('error', () => response.destroy());
  response.once('close', () => answer.destroy());
  response.writeHead(statusCode, headers);
  if (headers['content-type'] === 'text/event-stream') response.flushHeaders();
  passOn(answer, response);
}

/** What pipe() does, without the listeners that it adds and takes away for each answer. */
function passOn(answer: IncomingMessage, response: ServerResponse): void {
  answer.on('data', (chunk: Buffer) => {
    if (!response.write(chunk)) answer.pause();
  });
  response.on('drain', () => answer.resume());
  answer.once('end', () => response.end());
}

/** Reads an answer to its end. Rejects with SERVICE_UNAVAILABLE when it breaks off. */
export async function readWhole(answer: IncomingMessage): Promise<WholeAnswer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', { cause });
  }
  const { statusCode = 502, headers } = answer;
  const passed = Object.entries(headers).filter(([name]) => !ownHeaders.has(name));
  return { statusCode, headers: Object.fromEntries(passed), body: Buffer.concat(chunks) };
}

export function sendWhole(exchange: Exchange, { statusCode, headers, body }: WholeAnswer): void {
  if (statusCode >= 400) exchange.code = codeIn(body);
  exchange.response.writeHead(statusCode, { ...headers, ...exchange.headers, 'content-length': body.length }).end(body);
}

/** Notes the code of a problem for log and metrics; problems are small, so that it is in the first bytes. */
function noteCode(exchange: Exchange, answer: IncomingMessage): void {
  if (answer.headers['content-type'] !== 'application/problem+json') return;
  answer.once('data', (chunk: Buffer) => {
    exchange.code = codeIn(chunk);
  });
}

const codeIn = (problem: Buffer) => /"code":"([A-Z_]+)"/.exec(problem.toString('latin1'))?.[1];
