import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, catalogue, toAppError } from '@acsp/errors';
import { sendProblem } from '@acsp/http';
import { annotate, span } from '@acsp/telemetry';
import { recordExchange } from './access-log.js';
import { drainBody, settleBody } from './body.js';
import { sendConnectPage, wantsPage } from './connect-page.js';
import { allowOrigin, answerOptions } from './cors.js';
import { identifyCaller } from './credentials/identify-caller.js';
import { type Call, type Exchange, openExchange } from './exchange.js';
import { findRoute } from './find-route.js';
import type { Gateway } from './gateway.js';
import { answerOnce, hasKey } from './idempotency.js';
import { limitRate } from './rate-limit.js';
import { spendSignature } from './replay.js';
import { readWhole, sendWhole, streamAnswer } from './upstream/answer.js';
import { setForwardHeaders } from './upstream/forward-headers.js';

/** One request, from its head to the end of its answer. Every fault is answered as a problem. */
export function handleRequest(gateway: Gateway, request: IncomingMessage, response: ServerResponse): void {
  const exchange = openExchange(request, response, gateway.config.TRUST_PROXY);
  allowOrigin(exchange);
  response.once('close', () => recordExchange(gateway.log, exchange));
  void span('request', { kind: 'server', parent: request.headers }, async () => {
    await serve(gateway, exchange).catch((error) => refuse(gateway, exchange, error));
    annotate({ 'http.route': exchange.pattern ?? 'none', 'http.response.status_code': response.statusCode });
  });
}

async function serve(gateway: Gateway, exchange: Exchange): Promise<void> {
  checkHost(exchange.request);
  if (exchange.request.method === 'OPTIONS') return answerOptions(exchange);
  const route = await findRoute(exchange);
  if (route.page && wantsPage(exchange.request)) return sendConnectPage(exchange);
  const service = gateway.upstreams.of(route.service);
  const call: Call = Object.assign(exchange, { route });
  call.caller = await identifyCaller(gateway, call);

  const admitted = limitRate(gateway, call);
  const forward = async () => {
    await settleBody(call, route.maxBodyBytes);
    setForwardHeaders(gateway, call);
    return service.forward(call);
  };
  if (!hasKey(call)) return streamAnswer(call, await spendSignature(gateway, call, admitted, forward));
  // Only an admitted request may take the key's place.
  await admitted;
  const whole = async () => readWhole(await forward());
  sendWhole(call, await answerOnce(gateway, call, () => spendSignature(gateway, call, admitted, whole)));
}

/** HTTP/1.1 needs one (RFC 9112, 3.2). */
function checkHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1')
    throw new AppError('INVALID_FIELD', { fields: [{ field: 'Host', message: 'required' }] });
}

async function refuse({ log }: Gateway, exchange: Exchange, thrown: unknown): Promise<void> {
  const { request, response, requestId, pattern } = exchange;
  const error = toAppError(thrown);
  exchange.code = error.code;
  if (response.destroyed) return;
  if (error.cause !== undefined && catalogue[error.code].http >= 500) {
    log.error({ err: error.cause, code: error.code, route: pattern, request_id: requestId }, 'request failed');
  }
  await drainBody(request);
  for (const name in exchange.headers) response.setHeader(name, exchange.headers[name] ?? '');
  sendProblem(response, error, requestId);
}
