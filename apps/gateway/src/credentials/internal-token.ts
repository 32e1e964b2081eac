import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '@acsp/errors';
import type { Context } from '../context.js';
import type { Call, Caller } from '../exchange.js';
import { bearerToken } from './bearer-token.js';

/** The scheduler, by the token that operators gave it. */
export function byInternalToken({ config: { INTERNAL_TOKEN = [] } }: Context, { request }: Call): Caller | undefined {
  const token = bearerToken(request);
  if (token === undefined) return undefined;
  if (!INTERNAL_TOKEN.some((accepted) => equal(token, accepted))) throw new AppError('INVALID_TOKEN');
  return { name: 'scheduler', via: 'internal' };
}

const equal = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
const digest = (text: string) => createHash('sha256').update(text).digest();
