import type { Logger } from '@acsp/service';
import { counter, histogram } from '@acsp/telemetry';
import type { Exchange } from './exchange.js';

const requests = counter('acsp_gateway_requests_total', 'Requests answered, by route and error code', [
  'route',
  'code',
]);
const durations = histogram('acsp_gateway_request_seconds', 'Time to the end of the answer, by route', ['route']);

/** For a client that left before it was answered; no client sees it. Nginx counts them so too. */
const leftStatus = 499;

/** One line and two numbers for each request. The path is logged as its pattern and the query not at all: both can hold secrets. */
export function recordExchange(log: Logger, { request, response, ...exchange }: Exchange): void {
  const { pattern = 'none', code, caller, requestId } = exchange;
  const status = response.headersSent ? response.statusCode : leftStatus;
  const milliseconds = performance.now() - exchange.startedAt;
  requests.inc({ route: pattern, code: code ?? status });
  durations.observe({ route: pattern }, milliseconds / 1000);
  const fields = {
    method: request.method,
    route: pattern,
    status,
    code,
    duration_ms: Math.round(milliseconds * 10) / 10,
    aid: caller?.aid,
    request_id: requestId,
  };
  log.info(fields, response.writableFinished ? 'request' : 'request broken off');
}
