import { isLoginKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import type { Principal } from '@acsp/rpc';
import { fieldsOf } from '../body.js';
import type { Call } from '../exchange.js';
import type { Gateway } from '../gateway.js';
import { bearerToken } from './bearer-token.js';

/** `Authorization: Bearer nk_…` */
export function byLoginKey(gateway: Gateway, call: Call): Promise<Principal> | undefined {
  const token = bearerToken(call.request);
  return token === undefined ? undefined : holderOf(gateway, call, token);
}

/** The member `login_key` of the body. */
export async function byLoginKeyInBody(gateway: Gateway, call: Call): Promise<Principal | undefined> {
  const { login_key: key = null } = await fieldsOf(call, call.route.maxBodyBytes);
  return key === null ? undefined : holderOf(gateway, call, key);
}

/** Bearer; whoever shows a wrong key is nobody in particular, and the service says so in its own order of checks. */
export async function byUncheckedLoginKey(gateway: Gateway, call: Call): Promise<Principal | undefined> {
  const token = bearerToken(call.request);
  if (token === undefined) return undefined;
  try {
    return await holderOf(gateway, call, token);
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_LOGIN_KEY')
      return { name: '', via: 'anonymous', requestId: call.requestId };
    throw error;
  }
}

async function holderOf({ keys }: Gateway, { requestId }: Call, key: unknown): Promise<Principal> {
  if (typeof key !== 'string' || !isLoginKey(key)) throw new AppError('INVALID_LOGIN_KEY');
  const { aid, name } = await keys.loginKey(key);
  return { aid, name, via: 'login_key', requestId };
}
