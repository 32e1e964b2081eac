import type { IncomingMessage } from 'node:http';
import { AppError } from '@acsp/errors';

export interface RequestTarget {
  /** Path and query as they were sent: what a query signature covers. */
  readonly target: string;
  /** Host and port that the client meant. */
  readonly host: string | undefined;
}

const absoluteForm = /^https?:\/\/([^/?#]+)(.*)$/is;

/** A target in absolute form counts as its path and query, and its authority replaces the Host header (RFC 9112, 3.2.2). */
export function readTarget({ url = '/', headers }: IncomingMessage): RequestTarget {
  if (url.startsWith('/')) return { target: url, host: headers.host };
  const [, host, rest = ''] = absoluteForm.exec(url) ?? [];
  if (host === undefined) return { target: url, host: headers.host };
  return { target: rest.startsWith('/') ? rest : `/${rest}`, host };
}

/** HTTP/1.1 needs exactly one Host header, HTTP/1.0 at most one (RFC 9112, 3.2). Node drops all but the first. */
export function checkHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return;
  const message = hosts === 0 ? 'required' : 'given more than once';
  throw new AppError('INVALID_FIELD', { fields: [{ field: 'Host', message }] });
}
