import { principalHeader } from '@acsp/operation';
import { injectTrace } from '@acsp/telemetry';
import { clientProtocol } from '../client-address.js';
import type { Context } from '../context.js';
import type { Call } from '../exchange.js';

/**
 * Headers that end here: those of the connection (RFC 9110, 7.6.1), `expect`, which Node has answered, the credentials, for which the principal
 * stands, and those that the gateway sets itself.
 */
const ownHeaders = new Set([
  ...['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'content-length', 'expect', 'authorization', 'x-signature', 'idempotency-key'],
  ...['forwarded', 'x-request-id', 'host'],
]);

const isOwn = (name: string) => ownHeaders.has(name) || name.startsWith('acsp-') || name.startsWith('x-forwarded-');

/** Those that the sender of a request meant for the gateway alone. */
const namedIn = (connection = ''): ReadonlySet<string> =>
  new Set(connection.split(',').map((name) => name.trim().toLowerCase()));

/** Makes the request's headers those that the service gets: the caller's, but all that speaks of identity and origin is ours. */
export function setForwardHeaders({ config, principals }: Context, call: Call): void {
  const { request, caller, route, requestId, idempotency, body, host } = call;
  const sent = request.headers;
  const headers: Record<string, string> = {};
  const ofConnection = namedIn(sent.connection);
  for (const name in sent) if (!isOwn(name) && !ofConnection.has(name)) headers[name] = sent[name] as string;
  if (request.method === 'POST') headers['content-length'] = String(body?.length ?? sent['content-length'] ?? 0);
  if (caller !== undefined)
    headers[principalHeader] = principals.sign({ ...caller, requestId, rpc: route.rpc, idempotency });
  headers['x-request-id'] = requestId;
  headers['x-forwarded-for'] = call.address;
  headers['x-forwarded-proto'] = clientProtocol(request, config.TRUST_PROXY);
  if (host !== undefined) {
    headers.host = host;
    headers['x-forwarded-host'] = host;
  }
  injectTrace(headers);
  request.headers = headers;
}
