/**
 * Keys, AIDs and signed bytes. Everything binary is hex text at this door, as it is in the API (interface section 1), but message bytes and hashes.
 * Test vectors for other languages: test/vectors.
 */
export { aidOf, isAid } from './aid.js';
export { generateKeyPair, type KeyPair } from './key-pair.js';
export { createLoginKey, hashLoginKey, isLoginKey } from './login-key.js';
export { isPublicKey, isStrongPublicKey, isWeakPublicKey } from './public-key.js';
export { sign } from './sign.js';
export { signedBody } from './signed-body.js';
export { signedTarget } from './signed-target.js';
export { verify } from './verify.js';
