import { createLoginKey } from '@acsp/crypto';

export interface NewLoginKey {
  /** Shown once; only its hash is kept. */
  readonly key: string;
  readonly hash: Buffer;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The life of keys that agents ask for, and of those that a connect token is exchanged for (interface 8.3). */
export const loginKeyDays = 90;
export const connectKeyDays = 1;

export function newLoginKey(now: Date, days: number): NewLoginKey {
  const { key, hash } = createLoginKey();
  return { key, hash, createdAt: now, expiresAt: new Date(now.getTime() + days * 86_400_000) };
}
