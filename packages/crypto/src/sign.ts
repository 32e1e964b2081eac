import { createPrivateKey, sign as ed25519Sign } from 'node:crypto';

/**
 * Signs bytes with a private key as `generateKeyPair` makes it (128 hex characters: seed, then public key). Answers 128 hex characters.
 * The public half is derived from the seed again, so a mismatched half can't leak the key.
 */
export function sign(privateKey: string, bytes: Uint8Array): string {
  const seed = privateKey.slice(0, 64);
  const key = createPrivateKey({ key: Buffer.from(pkcs8Prefix + seed, 'hex'), format: 'der', type: 'pkcs8' });
  return ed25519Sign(null, bytes, key).toString('hex');
}

/** RFC 8410: version, algorithm id-Ed25519, and the header of the octet string that holds the seed. */
const pkcs8Prefix = '302e020100300506032b657004220420';
