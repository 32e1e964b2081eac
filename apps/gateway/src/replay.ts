import { AppError } from '@acsp/errors';
import type { Call } from './exchange.js';
import type { Gateway } from './gateway.js';

/**
 * Sends a request on once it is admitted and its signature, on whatever path, is used up. Limit and store are asked at the same time, for one
 * round trip. A request that is not admitted gives its signature back, and so does an answer that is the service's fault, or none at all: it
 * can be sent again. A signature that was spent with an Idempotency-Key passes again with that key, because its effect happens once for the key.
 */
export async function spendSignature<Answer extends { readonly statusCode?: number | undefined }>(
  { store }: Gateway,
  call: Call,
  admitted: Promise<void> | undefined,
  send: () => Promise<Answer>,
): Promise<Answer> {
  if (call.signature === undefined) {
    await admitted;
    return send();
  }
  const { signature, ttlSeconds } = call.signature;
  const entry = `signature:${signature}`;
  const key = call.idempotency?.key;
  const adding = store.add(entry, key ?? '', ttlSeconds);
  let spent = false;
  try {
    const [added] = await Promise.all([adding, admitted]);
    const repeated = !added && key !== undefined && (await store.get(entry)) === key;
    if (!added && !repeated) throw new AppError('INVALID_SIGNATURE', { detail: 'This signature was used before' });
    const answer = await send();
    spent = (answer.statusCode ?? 500) < 500;
    return answer;
  } finally {
    if (!spent && (await adding)) await store.delete(entry);
  }
}
