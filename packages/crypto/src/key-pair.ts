import { generateKeyPairSync } from 'node:crypto';

export interface KeyPair {
  /** 64 hex characters. */
  readonly publicKey: string;
  /** 128 hex characters: the seed followed by the public key. */
  readonly privateKey: string;
}

export function generateKeyPair(): KeyPair {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const publicKey = hexOf(x);
  return { publicKey, privateKey: hexOf(d) + publicKey };
}

const hexOf = (base64url: string) => Buffer.from(base64url, 'base64url').toString('hex');
