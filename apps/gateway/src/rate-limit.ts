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
  return known ? count(gateway, call, caller.aid) : countAddress(gateway, call);
}

/**
 * Looks a credential up that this process does not know, unless the address has used its limit up. No more are in flight for an address than it may
 * still fail, and a failure is counted before the next one begins: guesses that come at once are no more than guesses that come one after the
 * other, while good callers behind one address wait for each other at most.
 */
export async function lookUp<T>(gateway: Context, call: Call, find: () => Promise<T>): Promise<T> {
  refuseUsedUp(gateway, call);
  const [limit, key] = [limitOf(gateway, call), networkOf(call.address)];
  const end = await gateway.lookups.begin(`${limit.name} ${key}`, () => gateway.limiter.roomOf(limit, key));
  try {
    refuseUsedUp(gateway, call);
    return await find();
  } catch (thrown) {
    const error = toAppError(thrown);
    if (isCounted(error)) await countAddress(gateway, call);
    throw error;
  } finally {
    end();
  }
}

/** Throws RATE_LIMITED where this process knows that the address has used its limit up. */
function refuseUsedUp(gateway: Context, call: Call): void {
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
  if (!isCounted(error)) return error;
  try {
    await countAddress(gateway, call);
    return await fieldsFirst(call, error);
  } catch (limited) {
    return toAppError(limited);
  }
}

const isCounted = ({ code }: AppError): boolean => code !== 'RATE_LIMITED' && catalogue[code].http < 500;

/** A fault of the body itself was found by reading it or its headers, which says all that there is to know. */
const ofBody = new Set(['INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']);

async function fieldsFirst(call: Call, error: AppError): Promise<AppError> {
  if (ofBody.has(error.code) || !hasBody(call.request.headers)) return error;
  return fieldsOf(call, call.route.maxBodyBytes).then(() => error, toAppError);
}

/** Operations that have no limit share one for refusals. */
const limitOf = ({ limits }: Context, { route }: Call) => limits[(route.limit ?? 'credentials') as LimitName];

/** Counts a call against its address, once. */
function countAddress(gateway: Context, call: Call): Promise<void> | undefined {
  if (call.countedByAddress) return undefined;
  call.countedByAddress = true;
  return count(gateway, call, networkOf(call.address));
}

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
