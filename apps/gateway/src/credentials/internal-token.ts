import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '@acsp/errors';
import type { Principal } from '@acsp/rpc';
import type { Call } from '../exchange.js';
import type { Gateway } from '../gateway.js';
import { bearerToken } from './bearer-token.js';

/** The scheduler, by the token that operators gave it. */
export function byInternalToken({ config }: Gateway, { request, requestId }: Call): Principal | undefined {
  const token = bearerToken(request);
  if (token === undefined) return undefined;
  if (config.INTERNAL_TOKEN === undefined || !equal(token, config.INTERNAL_TOKEN)) throw new AppError('INVALID_TOKEN');
  return { name: 'scheduler', via: 'internal', requestId };
}

const equal = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
const digest = (text: string) => createHash('sha256').update(text).digest();
