import { hash } from 'node:crypto';

const form = /^[0-9a-f]{50}$/;

/** The AID of a public key (64 hex characters): the first 50 hex characters of SHA-256 over its 32 bytes. */
export const aidOf = (publicKey: string): string => hash('sha256', Buffer.from(publicKey, 'hex'), 'hex').slice(0, 50);

/** True when the text has an AID's form: exactly 50 lowercase hex characters. */
export const isAid = (text: string): boolean => form.test(text);
