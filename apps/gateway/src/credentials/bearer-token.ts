import type { IncomingMessage } from 'node:http';

/** The token of `Authorization: Bearer <token>`; undefined where it is empty, or where another scheme or none stands before it. */
export function bearerToken({ headers: { authorization = '' } }: IncomingMessage): string | undefined {
  return /^bearer[ \t]+(\S.*)$/i.exec(authorization)?.[1]?.trim();
}
