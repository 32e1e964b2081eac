import { generateKeyPair } from './key-pair.js';
import { isStrongPublicKey } from './public-key.js';
import { sign } from './sign.js';
import { verify } from './verify.js';

test('a new pair is strong, in the documented form, and its signatures verify', () => {
  const { publicKey, privateKey } = generateKeyPair();
  expect(isStrongPublicKey(publicKey)).toBe(true);
  expect(privateKey).toMatch(/^[0-9a-f]{128}$/);
  expect(privateKey.endsWith(publicKey)).toBe(true);
  const message = Buffer.from('message');
  expect(verify(publicKey, message, sign(privateKey, message))).toBe(true);
  expect(verify(generateKeyPair().publicKey, message, sign(privateKey, message))).toBe(false);
});

test('a private key whose halves do not belong together signs as its seed says, or not at all', () => {
  const [pair, other] = [generateKeyPair(), generateKeyPair()];
  const message = Buffer.from('message');
  const mixed = pair.privateKey.slice(0, 64) + other.publicKey;
  let signature = '';
  try {
    signature = sign(mixed, message);
  } catch {}
  expect(['', sign(pair.privateKey, message)]).toContain(signature);
});
