import { AppError, catalogue, toAppError } from '@acsp/errors';
import type { Consumed } from '@acsp/store';
import { counter } from '@acsp/telemetry';
import { fieldsOf, hasBody } from './body.js';
import { networkOf } from './client-address.js';
import type { Context } from './context.js';
import type { Call } from './exchange.js';
import type { Limit, LimitName } from './limits.js';

const refusals = counter('acsp_gateway_rate_limited_total', 'Requests refused by a rate limit', ['limit']);

/**
 * Counts a call against its operation's limit: by agent where the caller is proven, otherwise by address. Throws RATE_LIMITED at once where this
 * process knows that the limit is used up, so that a flood goes no further; otherwise it rejects with it.
 */
export function limitRate(gateway: Context, call: Call): Promise<void> | undefined {
  const { route, caller } = call;
  if (route.limit === undefined) return undefined;
  const known = caller?.aid !== undefined && route.signature.signer !== 'registration';
  return count(gateway, call, known ? caller.aid : networkOf(call.address));
}

/** Throws RATE_LIMITED where this process knows that the address has used its limit up, so that guesses are not looked up. */
export function refuseUsedUp(gateway: Context, call: Call): void {
  const limit = limitOf(gateway, call);
  const used = gateway.limiter.isRefused(limit, networkOf(call.address));
  if (used !== undefined) admit(call, limit, used);
}

/**
 * The error by which a request is answered that was refused before its caller was known. It counts against the address, so that guessing is slow and
 * refusing costs a bounded amount of work. A body that is not JSON comes before a missing or wrong credential.
 */
export async function countRefusal(gateway: Context, call: Call, thrown: unknown): Promise<AppError> {
  const error = toAppError(thrown);
  if (error.code === 'RATE_LIMITED' || catalogue[error.code].http >= 500) return error;
  try {
    refuseUsedUp(gateway, call);
    const refusal = await fieldsFirst(call, error);
    await count(gateway, call, networkOf(call.address));
    return refusal;
  } catch (limited) {
    return toAppError(limited);
  }
}

/** A fault of the body itself was found by reading it or its headers, which says all that there is to know. */
const ofBody = new Set(['INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']);

async function fieldsFirst(call: Call, error: AppError): Promise<AppError> {
  if (ofBody.has(error.code) || !hasBody(call.request.headers)) return error;
  return fieldsOf(call, call.route.maxBodyBytes).then(() => error, toAppError);
}

/** Operations that have no limit share one for refusals. */
const limitOf = ({ limits }: Context, { route }: Call) => limits[(route.limit ?? 'credentials') as LimitName];

function count(gateway: Context, call: Call, key: string): Promise<void> | undefined {
  const limit = limitOf(gateway, call);
  const consumed = gateway.limiter.consume(limit, key);
  return consumed instanceof Promise ? consumed.then((late) => admit(call, limit, late)) : admit(call, limit, consumed);
}

function admit({ headers }: Call, { name, policy }: Limit, { allowed, remaining, resetSeconds }: Consumed): undefined {
  headers['RateLimit-Policy'] = policy;
  headers.RateLimit = `"${name}";r=${remaining};t=${resetSeconds}`;
  if (allowed) return;
  refusals.inc({ limit: name });
  throw new AppError('RATE_LIMITED', { retryAfterSeconds: resetSeconds });
}
