import { generateKeyPairSync } from 'node:crypto';

export interface KeyPair {
  /** 64 hex characters. */
  readonly publicKey: string;
  /** 128 hex characters: the seed followed by the public key. */
  readonly privateKey: string;
}

export function generateKeyPair(): KeyPair {
  // Encoded by the generator itself: exporting the KeyObjects afterwards deadlocks Node 20, about once in 50,000 pairs,
  // when the garbage collector frees the generator (it wants the key's lock) in the middle of an export (it holds the lock).
  const pair = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { format: 'der', type: 'spki' },
    privateKeyEncoding: { format: 'der', type: 'pkcs8' },
  });
  const publicKey = lastBytes(pair.publicKey);
  return { publicKey, privateKey: lastBytes(pair.privateKey) + publicKey };
}

/** Both documents end in the 32 bytes of the key (RFC 8410). */
const lastBytes = (document: Buffer) => document.subarray(-32).toString('hex');
