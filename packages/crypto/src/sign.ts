import { createPrivateKey, sign as ed25519Sign } from 'node:crypto';

/**
 * Signs bytes with a private key as `generateKeyPair` makes it (128 hex characters: seed, then public key). Answers 128 hex characters.
 * The public key in the signature is derived from the seed, so that halves which do not belong together can't leak the seed.
 */
export function sign(privateKey: string, bytes: Uint8Array): string {
  const [d, x] = [privateKey.slice(0, 64), privateKey.slice(64)].map(base64url);
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  return ed25519Sign(null, bytes, key).toString('hex');
}

const base64url = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');
