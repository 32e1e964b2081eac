import { isAid } from '@acsp/crypto';
import { AppError, catalogue, toAppError } from '@acsp/errors';
import type { Principal } from '@acsp/rpc';
import { fieldsOf, hasBody } from '../body.js';
import type { Call } from '../exchange.js';
import type { Gateway } from '../gateway.js';
import { countRefused } from '../rate-limit.js';
import type { Credential } from '../route.js';
import { byInternalToken } from './internal-token.js';
import { byLoginKey, byLoginKeyInBody, byUncheckedLoginKey } from './login-key.js';
import { bySignature } from './signature.js';

/** Answers undefined where the request does not carry the credential, and throws where it is wrong. */
type Check = (gateway: Gateway, call: Call) => Promise<Principal | undefined> | Principal | undefined;

const anonymous = (_: Gateway, { requestId }: Call): Principal => ({ name: '', via: 'anonymous', requestId });

const checks: Readonly<Record<Credential, Check>> = {
  login_key: byLoginKey,
  login_key_body: byLoginKeyInBody,
  unchecked_login_key: byUncheckedLoginKey,
  signature: bySignature,
  aid: byAid,
  event_token: anonymous,
  internal: byInternalToken,
  none: anonymous,
};

/**
 * Who is calling, by the first credential of the operation that the request carries; AUTH_REQUIRED when it carries none. A refused
 * credential counts against the caller's address, and a body that is not JSON is found first.
 */
export async function identifyCaller(gateway: Gateway, call: Call): Promise<Principal> {
  try {
    for (const credential of call.route.by) {
      const caller = await checks[credential](gateway, call);
      if (caller !== undefined) return caller;
    }
    throw new AppError('AUTH_REQUIRED');
  } catch (thrown) {
    const error = toAppError(thrown);
    // What is wrong with the body itself was found by reading it, which cannot be done twice.
    const ofBody = error.code === 'INVALID_JSON' || error.code === 'PAYLOAD_TOO_LARGE';
    if (ofBody || catalogue[error.code].http >= 500) throw error;
    if (hasBody(call.request.headers)) await fieldsOf(call, call.route.maxBodyBytes);
    await countRefused(gateway, call);
    throw error;
  }
}

async function byAid(_: Gateway, call: Call): Promise<Principal> {
  const { aid } = await fieldsOf(call, call.route.maxBodyBytes);
  if (typeof aid !== 'string' || !isAid(aid)) throw new AppError('INVALID_AID');
  return { aid, name: '', via: 'aid', requestId: call.requestId };
}
