import type { Exchange } from './exchange.js';
import { allMethods, allowedMethods, noRoute } from './find-route.js';

const exposed = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Idempotency-Replayed',
  'Events-Truncated',
].join(', ');

/** Pages of any origin may call: credentials are keys and signatures, never cookies. */
export function allowOrigin({ request, headers }: Exchange): void {
  if (request.headers.origin === undefined) return;
  headers['Access-Control-Allow-Origin'] = '*';
  headers['Access-Control-Expose-Headers'] = exposed;
}

/**
 * A browser's preflight, for any path, so that its page gets to see a 404; otherwise the methods of the path, or for `*` those of the server
 * (RFC 9110, 9.3.7). Throws NOT_FOUND.
 */
export function answerOptions(exchange: Exchange): void {
  const { request, response, headers, target } = exchange;
  const preflight = request.headers['access-control-request-method'] !== undefined;
  const allow = allowedMethods(exchange);
  const error = noRoute(allow, response);
  if (target === '*') headers.Allow = allMethods;
  else if (allow.length === 0 && !preflight) throw error;
  if (preflight) {
    headers['Access-Control-Allow-Methods'] = allMethods;
    headers['Access-Control-Allow-Headers'] = request.headers['access-control-request-headers'] ?? '*';
    headers['Access-Control-Max-Age'] = 86_400;
  }
  response.writeHead(204, headers).end();
}
