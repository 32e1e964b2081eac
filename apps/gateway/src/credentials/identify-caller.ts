import { Credential } from '@acsp/contracts/edge/v1/edge';
import { isAid } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import type { Route } from '@acsp/operation';
import { fieldsOf } from '../body.js';
import type { Context } from '../context.js';
import type { Call, Caller } from '../exchange.js';
import { byInternalToken } from './internal-token.js';
import { byLoginKey, byLoginKeyInBody, byUncheckedLoginKey } from './login-key.js';
import { bySignature } from './signature.js';

/** Answers undefined where the request does not carry the credential, and throws where it is wrong. */
type Check = (gateway: Context, call: Call) => Promise<Caller | undefined> | Caller | undefined;

const anonymous = (): Caller => ({ name: '', via: 'anonymous' });

const checks: Readonly<Record<Credential, Check>> = {
  [Credential.UNSPECIFIED]: () => undefined,
  [Credential.LOGIN_KEY]: byLoginKey,
  [Credential.LOGIN_KEY_IN_BODY]: byLoginKeyInBody,
  [Credential.LOGIN_KEY_UNCHECKED]: byUncheckedLoginKey,
  [Credential.SIGNATURE]: bySignature,
  [Credential.AID]: byAid,
  [Credential.EVENT_TOKEN]: anonymous,
  [Credential.INTERNAL_TOKEN]: byInternalToken,
  [Credential.NONE]: anonymous,
};

/** Identifies the caller by the first credential of the operation that the request carries. Throws AUTH_REQUIRED when it carries none. */
export async function identifyCaller(gateway: Context, call: Call): Promise<Caller> {
  for (const credential of call.route.by) {
    const caller = await checks[credential](gateway, call);
    if (caller !== undefined) return call.route.signature.besides ? withSignature(gateway, call, caller) : caller;
  }
  throw new AppError('AUTH_REQUIRED', { detail: `Authentication required: ${waysOf(call.route).join(', or ')}` });
}

/** A request by a login key may be signed besides: recipients see that its sender holds the key pair. */
async function withSignature(gateway: Context, call: Call, caller: Caller): Promise<Caller> {
  const signer = await bySignature(gateway, call);
  if (signer === undefined) return caller;
  if (signer.aid !== caller.aid) throw new AppError('AID_MISMATCH');
  return { ...caller, signedAt: signer.signedAt };
}

async function byAid(_: Context, call: Call): Promise<Caller> {
  const { aid } = await fieldsOf(call, call.route.maxBodyBytes);
  if (typeof aid !== 'string' || !isAid(aid)) throw new AppError('INVALID_AID');
  return { claimedAid: aid, name: '', via: 'aid' };
}

/** How the credentials of an operation are written. */
function waysOf({ by, method, signature: { field } }: Route): string[] {
  const signed =
    method === 'POST'
      ? `an Ed25519 signature as ${field} in the body or in X-Signature`
      : `an Ed25519 signature as ${field} in the query`;
  const ways: Partial<Record<Credential, string>> = {
    [Credential.LOGIN_KEY]: 'send the header Authorization: Bearer <login key>',
    [Credential.LOGIN_KEY_UNCHECKED]: 'send the header Authorization: Bearer <login key>',
    [Credential.LOGIN_KEY_IN_BODY]: 'login_key in the body',
    [Credential.SIGNATURE]: signed,
    [Credential.INTERNAL_TOKEN]: 'send the header Authorization: Bearer <internal token>',
  };
  return by.flatMap((credential) => ways[credential] ?? []);
}
