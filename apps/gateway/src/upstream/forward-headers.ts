import type { IncomingHttpHeaders } from 'node:http';
import { type Principals, principalHeader } from '@acsp/rpc';
import { injectTrace } from '@acsp/telemetry';
import type { Call } from '../exchange.js';

/**
 * What ends here: headers of this connection (RFC 9110, 7.6.1), `expect`, which Node has answered, and the credentials, which the principal
 * stands for.
 */
const ownHeaders = new Set([
  ...['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'expect', 'authorization', 'x-signature', 'idempotency-key', 'forwarded'],
]);

/** The headers as the service gets them: the caller's, without any that speak of identity or origin, and ours that do. */
export function forwardHeaders({ request, caller, ...call }: Call, principals: Principals): IncomingHttpHeaders {
  const headers: Record<string, string> = {};
  for (const name in request.headers) {
    if (ownHeaders.has(name) || name.startsWith('acsp-') || name.startsWith('x-forwarded-')) continue;
    headers[name] = request.headers[name] as string;
  }
  if (call.body !== undefined) headers['content-length'] = String(call.body.length);
  return headers;
}
