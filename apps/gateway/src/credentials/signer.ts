import { aidOf, isAid, isPublicKey } from '@acsp/crypto';
import { AppError, type ErrorCode, toAppError } from '@acsp/errors';
import { type Fields, given } from '@acsp/operation';
import type { Context } from '../context.js';
import type { Call } from '../exchange.js';
import { hasKey } from '../idempotency.js';
import type { SigningKey } from '../keys/keys.js';
import { lookUp } from '../rate-limit.js';
import type { SignedRequest } from './signed-request.js';

/** The agent whose signature it must be. */
export function findSigner(gateway: Context, call: Call, { fields }: SignedRequest): SigningKey | Promise<SigningKey> {
  const { signature: rule } = call.route;
  switch (rule.signer) {
    case 'registration':
      return newcomer(fields);
    case 'holder':
      return holder(gateway, call, fields);
    case 'agent':
      return find(gateway, call, readAid(fields, rule.aid));
  }
}

const find = (gateway: Context, call: Call, aid: string): Promise<SigningKey> =>
  gateway.keys.signingKey(aid, (ask) => lookUp(gateway, call, ask));

/** Nobody is registered yet: the key in the body proves itself, and gives the AID. */
function newcomer(fields: Fields): SigningKey {
  const publicKey = readKey(fields, keyField(fields), 'MISSING_FIELDS');
  const aid = aidOf(publicKey);
  if (given(['aid'], fields) && fields.aid !== aid) throw refused('INVALID_AID', 'aid', 'is not that of the key');
  return { aid, name: '', registeredAt: undefined, publicKey, signedFrom: 0 };
}

const keyField = (fields: Fields) => (given(['ed25519_pubkey'], fields) ? 'ed25519_pubkey' : 'public_key');

/** A newcomer's key is weak, or no point of the curve. */
export const unusableKey = (fields: Fields): AppError =>
  refused('INVALID_PUBLIC_KEY', keyField(fields), 'is not a usable Ed25519 key');

/** A registered agent that also shows its public key. */
async function holder(gateway: Context, call: Call, fields: Fields): Promise<SigningKey> {
  const { missingCode } = call.route.signature;
  const missing = missingCode === 'MISSING_FIELDS' ? missingCode : undefined;
  const aid = readAid(fields, ['aid'], missing);
  const publicKey = readKey(fields, 'public_key', missing);
  const signer = await find(gateway, call, aid).catch((error: unknown) => {
    // A repetition of the request that ended the agent is answered from what was kept for the life that ended.
    if (toAppError(error).code !== 'AID_NOT_FOUND' || !hasKey(call) || aidOf(publicKey) !== aid) throw error;
    return gateway.keys.endedSigningKey(aid);
  });
  if (signer.publicKey !== publicKey) throw new AppError('KEY_MISMATCH');
  return signer;
}

function readAid(fields: Fields, names: readonly string[], missing: ErrorCode = 'INVALID_AID'): string {
  const name = names.find((field) => given([field], fields));
  if (name === undefined) throw refused(missing, names[0] ?? '', 'required');
  const aid = fields[name];
  if (typeof aid !== 'string' || !isAid(aid)) throw refused('INVALID_AID', name, 'must be 50 lowercase hex characters');
  return aid;
}

function readKey(fields: Fields, name: string, missing: ErrorCode = 'INVALID_PUBLIC_KEY'): string {
  if (!given([name], fields)) throw refused(missing, name, 'required');
  const key = fields[name];
  if (typeof key !== 'string' || !isPublicKey(key))
    throw refused('INVALID_PUBLIC_KEY', name, 'must be 64 hex characters');
  return key.toLowerCase();
}

const refused = (code: ErrorCode, field: string, message: string) =>
  new AppError(code, { fields: [{ field, message }] });
