import type { IncomingMessage } from 'node:http';

/** What `Authorization` holds after `Bearer`; the whole of it under any other scheme, which no check will accept. Undefined without it. */
export function bearerToken({ headers: { authorization } }: IncomingMessage): string | undefined {
  if (authorization === undefined) return undefined;
  return /^bearer /i.test(authorization) ? authorization.slice(7).trim() : authorization;
}
