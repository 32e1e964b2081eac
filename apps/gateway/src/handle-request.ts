import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, catalogue, toAppError } from '@acsp/errors';
import { sendProblem } from '@acsp/http';
import { annotate, span } from '@acsp/telemetry';
import { recordExchange } from './access-log.js';
import { drainBody, settleBody } from './body.js';
import { sendConnectPage, wantsPage } from './connect-page.js';
import type { Context } from './context.js';
import { allowOrigin, answerOptions } from './cors.js';
import { identifyCaller } from './credentials/identify-caller.js';
import { type Call, type Exchange, openExchange } from './exchange.js';
import { findForms, findRoute } from './find-route.js';
import { hasKey, readIdempotency, whileRunning } from './idempotency.js';
import { checkProtocol } from './protocol.js';
import { countRefusal, limitRate } from './rate-limit.js';
import { spendSignature } from './replay.js';
import { checkHost } from './request-target.js';
import { takeTurn } from './turns.js';
import { resumesStream, sendEmptyStream, streamAnswer } from './upstream/answer.js';
import { setForwardHeaders } from './upstream/forward-headers.js';

/** One request, from its head to the end of its answer. Every fault is answered as a problem. */
export function handleRequest(gateway: Context, request: IncomingMessage, response: ServerResponse): void {
  const exchange = openExchange(request, response, gateway.config.TRUST_PROXY);
  const turn = takeTurn(request);
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    recordExchange(gateway.log, exchange);
    turn?.end();
  };
  response.once('close', end);
  allowOrigin(exchange);
  void span('request', { kind: 'server', parent: request.headers }, async () => {
    if (turn?.wait !== undefined) await turn.wait;
    // The connection was lost while others were answered, and never given to this response. Node 24 closes it all the same, Node 20 and 22 do not.
    if (response.socket === null && turn !== undefined) return end();
    const serving = turn === undefined ? refuseTurn(exchange) : serve(gateway, exchange);
    await serving.catch((error) => refuse(gateway, exchange, error));
    annotate({ 'http.route': exchange.pattern ?? 'none', 'http.response.status_code': response.statusCode });
  });
}

async function refuseTurn({ headers }: Exchange): Promise<never> {
  headers.Connection = 'close';
  throw new AppError('RATE_LIMITED', { retryAfterSeconds: 1, detail: 'Too many requests wait on this connection' });
}

async function serve(gateway: Context, exchange: Exchange): Promise<void> {
  checkFrame(exchange);
  if (exchange.request.method === 'OPTIONS') return answerOptions(exchange);
  const forms = findForms(exchange);
  const call: Call = Object.assign(exchange, { route: forms[0] });
  call.route = await counted(gateway, call, () => findRoute(exchange, forms));
  if (call.route.page && wantsPage(exchange.request)) return sendConnectPage(exchange);
  const upstream = gateway.upstreams.of(call.route);
  call.caller = await counted(gateway, call, () => identifyCaller(gateway, call));

  const admitted = limitRate(gateway, call);
  const forward = async () => {
    await settleBody(call, call.route.maxBodyBytes);
    setForwardHeaders(gateway, call);
    return upstream.forward(call);
  };
  const spend = () => spendSignature(gateway, call, admitted, forward);
  if (!hasKey(call)) return streamAnswer(call, await spend(), gateway.streams);
  // A request that is not admitted must not occupy the key.
  await admitted;
  call.idempotency = await readIdempotency(call);
  streamAnswer(call, await whileRunning(gateway, call.idempotency, spend), gateway.streams);
}

/** The connection ends where what comes behind cannot be trusted. */
function checkFrame({ request, headers }: Exchange): void {
  try {
    checkProtocol(request);
  } catch (error) {
    headers.Connection = 'close';
    throw error;
  }
  checkHost(request);
}

/** Runs a step before the caller is known, whose refusals count against the address. */
async function counted<T>(gateway: Context, call: Call, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (thrown) {
    throw await countRefusal(gateway, call, thrown);
  }
}

async function refuse({ log, streams }: Context, exchange: Exchange, thrown: unknown): Promise<void> {
  const { request, response, requestId, pattern } = exchange;
  const error = toAppError(thrown);
  exchange.code = error.code;
  if (response.destroyed) return;
  if (error.cause !== undefined && catalogue[error.code].http >= 500) {
    log.error({ err: error.cause, code: error.code, route: pattern, request_id: requestId }, 'request failed');
  }
  // Anything but 200 ends a browser's EventSource for good.
  const isAway = error.code === 'SERVICE_UNAVAILABLE' && error.cause !== undefined;
  if (isAway && resumesStream(exchange)) return sendEmptyStream(exchange, streams);
  await drainBody(request);
  sendProblem(response, error, requestId, exchange.headers);
}
