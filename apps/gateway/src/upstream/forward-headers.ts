import type { IncomingMessage } from 'node:http';
import { principalHeader } from '@acsp/rpc';
import { injectTrace } from '@acsp/telemetry';
import type { Call } from '../exchange.js';
import type { Gateway } from '../gateway.js';

/**
 * What ends here: headers of the connection (RFC 9110, 7.6.1), `expect`, which Node has answered, the credentials, for which the principal
 * stands, and what we set ourselves.
 */
const ownHeaders = new Set([
  ...['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'content-length', 'expect', 'authorization', 'x-signature', 'idempotency-key'],
  ...['forwarded', 'x-request-id'],
]);

const isOwn = (name: string) => ownHeaders.has(name) || name.startsWith('acsp-') || name.startsWith('x-forwarded-');

/** Makes the request's headers those that the service gets: the caller's, but all that speaks of identity and origin is ours. */
export function setForwardHeaders({ config, principals }: Gateway, call: Call): void {
  const { request, caller, requestId, body } = call;
  const sent = request.headers;
  const headers: Record<string, string> = {};
  for (const name in sent) if (!isOwn(name)) headers[name] = sent[name] as string;
  if (request.method === 'POST') headers['content-length'] = String(body?.length ?? sent['content-length'] ?? 0);
  if (caller !== undefined) headers[principalHeader] = principals.sign(caller);
  headers['x-request-id'] = requestId;
  headers['x-forwarded-for'] = call.address;
  headers['x-forwarded-proto'] = config.TRUST_PROXY.header === undefined ? 'http' : protocolOf(request);
  if (sent.host !== undefined) headers['x-forwarded-host'] = sent.host;
  injectTrace(headers);
  request.headers = headers;
}

/** As a proxy in front of us says it. */
const protocolOf = ({ headers }: IncomingMessage) => (headers['x-forwarded-proto'] === 'https' ? 'https' : 'http');
