import { AppError } from '@acsp/errors';
import type { Context } from './context.js';
import type { Call } from './exchange.js';

/**
 * Sends a request on once it is admitted and its signature is spent, for every path at once. The limiter and the store are queried concurrently,
 * which costs one round trip. A request that is not admitted gives its signature back, and so does an answer that is the service's fault, or none at all: it
 * can be sent again. A signature that was spent with an Idempotency-Key passes again with that key, because its effect happens once for the key.
 */
export async function spendSignature<Answer extends { readonly statusCode?: number | undefined }>(
  { store }: Context,
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
  const adding = store.add(entry, spenderOf(call), ttlSeconds);
  let spent = false;
  try {
    const [added] = await Promise.all([adding, admitted]);
    if (!added) checkSpender(call, await store.get(entry));
    const answer = await send();
    spent = (answer.statusCode ?? 500) < 500;
    return answer;
  } finally {
    if (!spent && (await adding)) await store.delete(entry);
  }
}

/** The key that a signature is spent with, and the print of the request. */
const spenderOf = ({ idempotency }: Call): string =>
  idempotency === undefined ? '' : `${idempotency.key} ${idempotency.print}`;

/** The service knows its own keys alone, so that the same key on a path of another service is found here. */
function checkSpender(call: Call, spender: string | undefined): void {
  const { idempotency } = call;
  if (idempotency === undefined || !spender?.startsWith(`${idempotency.key} `)) {
    throw new AppError('INVALID_SIGNATURE', { detail: 'This signature was used before' });
  }
  if (spender !== spenderOf(call)) throw new AppError('IDEMPOTENCY_KEY_REUSED');
}
