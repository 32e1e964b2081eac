import { createHash } from 'node:crypto';
import { createLoginKey, hashLoginKey, isLoginKey } from './login-key.js';

test('a login key is nk_ and 32 random bytes, and never the same twice', () => {
  const keys = Array.from({ length: 100 }, () => createLoginKey().key);
  expect(new Set(keys).size).toBe(100);
  expect(keys.every(isLoginKey)).toBe(true);
  expect(Buffer.from(keys[0]?.slice(3) ?? '', 'base64url')).toHaveLength(32);
});

test('the hash is SHA-256 over the whole text', () => {
  const { key, hash } = createLoginKey();
  expect(hash).toEqual(createHash('sha256').update(key).digest());
  expect(hashLoginKey(key)).toEqual(hash);
});

test.each([
  '',
  'nk_',
  'nk_short',
  `sk_${'a'.repeat(43)}`,
  `nk_${'a'.repeat(44)}`,
  `nk_${'a'.repeat(42)}+`,
  `nk_${'a'.repeat(43)}\n`,
])('is not a login key: %j', (text) => expect(isLoginKey(text)).toBe(false));
