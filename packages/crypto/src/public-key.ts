import { ed25519 } from '@noble/curves/ed25519.js';
import { isHex64 } from './hex.js';

/** Whether the text has a public key's form: 64 hex characters, in either case. */
export const isPublicKey = isHex64;

/**
 * Whether a public key is safe to register: a canonically written point of the curve that is not of small order.
 * Anyone can sign for a small-order key (the identity "verifies" R = identity, S = 0 over any message), and OpenSSL accepts that.
 * Costs about as much as a verification: ask once a key.
 */
export function isStrongPublicKey(publicKey: string): boolean {
  if (!isPublicKey(publicKey)) return false;
  try {
    const zip215 = false; // The lax decoding, noble's default elsewhere.
    return !ed25519.Point.fromHex(publicKey, zip215).isSmallOrder();
  } catch {
    return false;
  }
}
