import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js';
import { isHex64 } from './hex.js';

/** True when the text has a public key's form: 64 hex characters, in either case. */
export const isPublicKey = isHex64;

/**
 * True when a public key is safe to register: a canonically written point of the curve that is not of small order.
 * Anyone can sign for a small-order key (the identity "verifies" R = identity, S = 0 over any message); a lax verifier accepts that.
 * Takes 0.1 ms, twice as long as a verification.
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

/** Every way to write a point of small order with a y below the field's prime: the eight points, and two signs of an x that is 0. */
const smallOrder = new Set([...ED25519_TORSION_SUBGROUP, `01${'00'.repeat(30)}80`, `ec${'ff'.repeat(31)}`]);

/** A y at or above 2^255 - 19, whatever the sign. */
const isUnreduced = (publicKey: string) => /^(e[d-f]|f[0-9a-f])(ff){30}[7f]f$/.test(publicKey);

/**
 * True when signatures under a key prove nothing, from its text alone: what isStrongPublicKey refuses, but for texts that are no point of the curve,
 * under which nothing verifies. 64 hex characters in lower case.
 */
export const isWeakPublicKey = (publicKey: string): boolean => smallOrder.has(publicKey) || isUnreduced(publicKey);
