import type { IncomingMessage } from 'node:http';
import { AppError } from '@acsp/errors';

const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/is;

/**
 * Turns a target in absolute form into its path and query, and puts its authority in place of the Host header (RFC 9112, 3.2.2 and 3.2.4). Express must not see
 * it: it answers a page of its own where it cannot parse one.
 */
export function resolveTarget(request: IncomingMessage): void {
  const [, host, rest = ''] = absoluteForm.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  if (rest === '' && request.method === 'OPTIONS') request.url = '*';
  else request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = host;
}

const hostForm = /^(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d*))?$/i;

function isHost(host: string): boolean {
  // A port may be empty, and have zeros in front (RFC 3986, 3.2.3).
  const [matched, port = ''] = hostForm.exec(host) ?? [];
  return matched !== undefined && Number(port) <= 65_535;
}

/**
 * HTTP/1.1 needs exactly one Host header, HTTP/1.0 at most one, and it has to be a host, as the authority of an absolute target that stands in its
 * place (RFC 9112, 3.2). Node drops all but the first.
 */
export function checkHost({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  let [hosts, sent]: [number, string | undefined] = [0, undefined];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts += 1;
    sent = rawHeaders[at + 1];
  }
  if (hosts > 1) throw refused('given more than once');
  if (hosts === 0 && httpVersion !== '1.0') throw refused('required');
  const given = sent === headers.host ? [sent] : [sent, headers.host];
  if (given.some((host) => host !== undefined && !isHost(host))) throw refused('must be a host and perhaps a port');
}

const refused = (message: string) => new AppError('INVALID_FIELD', { fields: [{ field: 'Host', message }] });
