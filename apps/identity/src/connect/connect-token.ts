import { createHash, randomBytes } from 'node:crypto';

export const connectTokenSeconds = 600;

/** 32 random bytes in base64url. */
export const newConnectToken = (): string => randomBytes(32).toString('base64url');

/** Where the store keeps whom the token stands for: under its hash, so that whoever reads the store cannot redeem it. */
export const connectTokenKey = (token: string): string =>
  `connect:${createHash('sha256').update(token).digest('base64url')}`;
