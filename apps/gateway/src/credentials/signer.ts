import { aidOf, isAid, isPublicKey } from '@acsp/crypto';
import { AppError, type ErrorCode, toAppError } from '@acsp/errors';
import { type Fields, given } from '@acsp/operation';
import type { Context } from '../context.js';
import type { Call } from '../exchange.js';
import { hasKey } from '../idempotency.js';
import type { KeyHolder } from '../keys/keys.js';
import { refuseUsedUp } from '../rate-limit.js';
import type { SignedRequest } from './signed-request.js';

/** The agent whose signature it must be. */
export interface Signer extends KeyHolder {
  /** 64 hex characters. */
  readonly publicKey: string;
  /** Signatures with an earlier timestamp are those of a former life; in milliseconds since 1970. */
  readonly signedFrom: number;
}

export function findSigner(gateway: Context, call: Call, { fields }: SignedRequest): Signer | Promise<Signer> {
  const { signature: rule } = call.route;
  const find = (aid: string) => gateway.keys.signingKey(aid, () => refuseUsedUp(gateway, call));
  switch (rule.signer) {
    case 'registration':
      return newcomer(fields);
    case 'holder':
      return holder(call, fields, find);
    case 'agent':
      return find(readAid(fields, rule.aid));
  }
}

/** Nobody is registered yet: the key in the body proves itself, and gives the AID. */
function newcomer(fields: Fields): Signer {
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
async function holder(call: Call, fields: Fields, find: (aid: string) => Promise<Signer>): Promise<Signer> {
  const { missingCode } = call.route.signature;
  const missing = missingCode === 'MISSING_FIELDS' ? missingCode : undefined;
  const aid = readAid(fields, ['aid'], missing);
  const publicKey = readKey(fields, 'public_key', missing);
  const signer = await find(aid).catch((error: unknown) => {
    // A repetition of the request that ended the agent is answered from what was kept. The key proves the AID by itself.
    if (toAppError(error).code !== 'AID_NOT_FOUND' || !hasKey(call) || aidOf(publicKey) !== aid) throw error;
    return { aid, name: '', registeredAt: undefined, publicKey, signedFrom: 0 };
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
