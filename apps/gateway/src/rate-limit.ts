import { AppError } from '@acsp/errors';
import type { Consumed } from '@acsp/store';
import { counter } from '@acsp/telemetry';
import { networkOf } from './client-address.js';
import type { Call } from './exchange.js';
import type { Gateway } from './gateway.js';
import type { LimitName } from './limits.js';

const refusals = counter('acsp_gateway_rate_limited_total', 'Requests refused by a rate limit', ['limit']);

/**
 * Counts a call against its operation's limit: by agent where it is proven who calls, otherwise by address. Throws RATE_LIMITED at once where this
 * process knows that the limit is used up, so that a flood goes no further; otherwise it rejects with it.
 */
export function limitRate(gateway: Gateway, call: Call): Promise<void> | undefined {
  const { route, caller } = call;
  if (route.limit === undefined) return undefined;
  const known = caller?.aid !== undefined && caller.via !== 'aid' && route.rule.signer !== 'registration';
  return count(gateway, call, route.limit, known ? caller.aid : networkOf(call.address));
}

/** Counts a refused credential against the address it came from, so that guessing is slow. */
export async function countRefused(gateway: Gateway, call: Call): Promise<void> {
  await count(gateway, call, call.route.limit ?? 'credentials', networkOf(call.address));
}

function count(
  { limiter, limits }: Gateway,
  { headers }: Call,
  name: LimitName,
  key: string,
): Promise<void> | undefined {
  const limit = limits[name];
  const admit = ({ allowed, remaining, resetSeconds }: Consumed): undefined => {
    headers['RateLimit-Policy'] = limit.policy;
    headers.RateLimit = `"${name}";r=${remaining};t=${resetSeconds}`;
    if (allowed) return;
    refusals.inc({ limit: name });
    throw new AppError('RATE_LIMITED', { retryAfterSeconds: resetSeconds });
  };
  const consumed = limiter.consume(limit, key);
  return consumed instanceof Promise ? consumed.then(admit) : admit(consumed);
}
