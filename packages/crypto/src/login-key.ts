import { hash, randomBytes } from 'node:crypto';

const form = /^nk_[A-Za-z0-9_-]{43}$/;

/** A new login key, `nk_` and 32 random bytes in base64url, with the hash under which it is stored. The key itself is shown once. */
export function createLoginKey(): { key: string; hash: Buffer } {
  const key = `nk_${randomBytes(32).toString('base64url')}`;
  return { key, hash: hashLoginKey(key) };
}

/** SHA-256 over the key's text, `nk_` included: 32 bytes. */
export const hashLoginKey = (key: string): Buffer => hash('sha256', key, 'buffer');

export const isLoginKey = (text: string): boolean => form.test(text);
