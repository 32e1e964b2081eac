import { createHash } from 'node:crypto';
import { Credential } from '@acsp/contracts/edge/v1/edge';
import { AppError } from '@acsp/errors';
import type { Idempotency } from '@acsp/operation';
import { bytesOf } from './body.js';
import type { Context } from './context.js';
import { bearerToken } from './credentials/bearer-token.js';
import type { Call } from './exchange.js';

/** Answers true for a key that has a meaning here: secrets are kept nowhere, and a GET changes nothing. */
export const hasKey = ({ request, route }: Call): boolean =>
  request.headers['idempotency-key'] !== undefined && request.method === 'POST' && !route.secret;

/** The digests by which the service recognises a repetition and refuses another request under the same key. Throws INVALID_FIELD. */
export async function readIdempotency(call: Call): Promise<Idempotency> {
  const { request, route, target } = call;
  return {
    key: digest(...callerOf(call), keyOf(call)),
    print: digest(request.method ?? '', target, await bytesOf(call, route.maxBodyBytes)),
  };
}

/** Throws IDEMPOTENCY_IN_PROGRESS while a request with the same key is in flight. The service decides on the key afterwards. */
export async function whileRunning<T>({ running }: Context, { key }: Idempotency, send: () => Promise<T>): Promise<T> {
  if (!(await running.begin(key))) throw new AppError('IDEMPOTENCY_IN_PROGRESS', { retryAfterSeconds: 1 });
  try {
    return await send();
  } finally {
    await running.end(key);
  }
}

/** Throws INVALID_FIELD for a key that is too long or not printable. */
function keyOf({ request }: Call): string {
  const key = String(request.headers['idempotency-key']);
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new AppError('INVALID_FIELD', {
    fields: [{ field: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }],
  });
}

/**
 * An agent that registered again is another caller: what was kept for its former life is not for this one. The address distinguishes callers that
 * nothing proves. A request may have deleted its own caller: the login key, which belongs to one life, identifies its repetition.
 */
function callerOf({ caller, address, route, request }: Call): string[] {
  const loginKey = route.by.includes(Credential.LOGIN_KEY_UNCHECKED) ? bearerToken(request) : undefined;
  if (loginKey !== undefined) return [loginKey];
  return caller?.aid === undefined ? [address] : [caller.aid, String(caller.registeredAt)];
}

/** Each part is preceded by its length, so that `ab`, `c` and `a`, `bc` have different digests. */
function digest(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64url');
}
