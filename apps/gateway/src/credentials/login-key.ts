import { isLoginKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { fieldsOf } from '../body.js';
import type { Context } from '../context.js';
import type { Call, Caller } from '../exchange.js';
import { lookUp } from '../rate-limit.js';
import { bearerToken } from './bearer-token.js';

/** `Authorization: Bearer nk_…` */
export function byLoginKey(gateway: Context, call: Call): Promise<Caller> | undefined {
  const token = bearerToken(call.request);
  return token === undefined ? undefined : holderOf(gateway, call, token);
}

/** The member `login_key` of the body. */
export async function byLoginKeyInBody(gateway: Context, call: Call): Promise<Caller | undefined> {
  const { login_key: key = null } = await fieldsOf(call, call.route.maxBodyBytes);
  return key === null ? undefined : holderOf(gateway, call, key);
}

/** Bearer. A wrong key leaves the caller unknown, and the service refuses it in its own order of checks. */
export async function byUncheckedLoginKey(gateway: Context, call: Call): Promise<Caller | undefined> {
  const token = bearerToken(call.request);
  if (token === undefined) return undefined;
  try {
    return await holderOf(gateway, call, token);
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_LOGIN_KEY') return { name: '', via: 'anonymous' };
    throw error;
  }
}

async function holderOf(gateway: Context, call: Call, key: unknown): Promise<Caller> {
  if (typeof key !== 'string' || !isLoginKey(key)) throw new AppError('INVALID_LOGIN_KEY');
  const { aid, name, registeredAt } = await gateway.keys.loginKey(key, (ask) => lookUp(gateway, call, ask));
  return { aid, name, registeredAt, via: 'login_key' };
}
