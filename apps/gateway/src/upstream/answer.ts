import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@acsp/errors';
import { type OpenStreams, queryFields, sendEvents } from '@acsp/http';
import type { Call, Exchange } from '../exchange.js';

/** Headers of the connection between gateway and service, and those that the gateway sets itself. */
const ownHeaders = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade', 'date', 'x-powered-by', 'x-request-id'],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'ratelimit', 'ratelimit-policy'],
]);

/** Passes a service's answer on as it comes in. When it breaks off there, it breaks off here; throws SERVICE_UNAVAILABLE when it already has. */
export function streamAnswer(exchange: Exchange, answer: IncomingMessage, streams: OpenStreams): void {
  const { response, headers } = exchange;
  if (response.destroyed) {
    answer.destroy();
    return;
  }
  // Nobody listened while the signature was given back, so the event of a broken connection may have passed.
  if (answer.destroyed && !answer.complete)
    throw new AppError('SERVICE_UNAVAILABLE', { cause: new Error('The service broke its answer off') });
  const { statusCode = 502 } = answer;
  for (const name in answer.headers) {
    if (!ownHeaders.has(name)) headers[name] = answer.headers[name];
  }
  if (statusCode >= 400) noteCode(exchange, answer);
  answer.once('error', () => response.destroy());
  response.once('close', () => answer.destroy());
  response.writeHead(statusCode, headers);
  answer.pipe(response);
  if (isEventStream(answer)) endWith(streams, answer, response);
}

/** A service that stops at the same time ends its streams itself, and says so to their clients. */
const closingMs = 250;

/** When the gateway stops, its event streams end at once: their clients resume at another one, and a stream by itself lasts for minutes. */
function endWith(streams: OpenStreams, answer: IncomingMessage, response: ServerResponse): void {
  response.flushHeaders();
  const end = () => {
    setTimeout(() => {
      answer.unpipe(response);
      response.end();
    }, closingMs).unref();
  };
  streams.add(end);
  response.once('close', () => streams.delete(end));
}

/** The request takes an event stream up again. */
export function resumesStream(exchange: Exchange): boolean {
  const { route, request, target } = exchange as Exchange & Partial<Call>;
  if (route?.desc.methodKind !== 'server_streaming') return false;
  return Boolean(request.headers['last-event-id'] || queryFields(target).last_event_id);
}

/** A stream without an event: its client comes again after the `retry` of every stream. */
export const sendEmptyStream = ({ response, headers }: Exchange, streams: OpenStreams): Promise<void> =>
  sendEvents(response, nothing(), { own: headers as Record<string, string>, streams });

async function* nothing() {}

const isEventStream = ({ headers }: IncomingMessage) => /^text\/event-stream\b/i.test(headers['content-type'] ?? '');

/** Notes the code of a problem for log and metrics; problems are small, so that it is in the first bytes. */
function noteCode(exchange: Exchange, answer: IncomingMessage): void {
  if (answer.headers['content-type'] !== 'application/problem+json') return;
  answer.once('data', (chunk: Buffer) => {
    exchange.code = /"code":"([A-Z_]+)"/.exec(chunk.toString('latin1'))?.[1];
  });
}
