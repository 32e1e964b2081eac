import { createPublicKey, verify as ed25519Verify, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { isHex128 } from './hex.js';
import { isPublicKey, isWeakPublicKey } from './public-key.js';

/** At 1.2 KB each, and only keys that something was signed with. */
const keys = new LRUCache<string, KeyObject>({ max: 20_000 });

/**
 * Strict Ed25519 (RFC 8032, without cofactor): false for S at or above the group order, a weak or malformed key, a malformed signature.
 * Never rejects. `publicKey` 64 and `signature` 128 hex characters.
 */
export async function verify(publicKey: string, bytes: Uint8Array, signature: string): Promise<boolean> {
  if (!isHex128(signature)) return false;
  const known = keys.get(publicKey);
  const key = known ?? load(publicKey);
  if (key === undefined || !(await inThread(bytes, key, Buffer.from(signature, 'hex')))) return false;
  if (known === undefined) keys.set(publicKey, key);
  return true;
}

/** A verification takes a tenth of a millisecond, for which everything else would wait. */
const inThread = promisify<Uint8Array, KeyObject, Buffer, boolean>((bytes, key, signature, done) =>
  ed25519Verify(null, bytes, key, signature, done),
);

/** OpenSSL itself finds out, with each signature, whether the key is a point of the curve. */
function load(publicKey: string): KeyObject | undefined {
  if (!isPublicKey(publicKey) || isWeakPublicKey(publicKey.toLowerCase())) return undefined;
  const x = Buffer.from(publicKey, 'hex').toString('base64url');
  // As JWK: OpenSSL takes ten times as long to find out what a DER document is.
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
