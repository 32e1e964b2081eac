import type { IncomingMessage } from 'node:http';
import { AppError } from '@acsp/errors';
import type { Call } from './exchange.js';
import type { Gateway } from './gateway.js';

/**
 * Uses the request's signature up, on any path, before it goes on. An answer that is the service's fault, or none at all, gives it back, so
 * that the same request can be sent again.
 */
export async function spendSignature(
  gateway: Gateway,
  call: Call,
  send: () => Promise<IncomingMessage>,
): Promise<IncomingMessage> {
  if (call.signature === undefined) return send();
  const { signature, ttlSeconds } = call.signature;
  const key = `signature:${signature}`;
  if (!(await gateway.store.add(key, '1', ttlSeconds))) {
    throw new AppError('INVALID_SIGNATURE', { detail: 'This signature was used before' });
  }
  let spent = false;
  try {
    const answer = await send();
    spent = (answer.statusCode ?? 500) < 500;
    return answer;
  } finally {
    if (!spent) await gateway.store.delete(key);
  }
}
