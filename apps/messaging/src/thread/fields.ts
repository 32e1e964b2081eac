import { jsonObject } from '@acsp/operation';
import { z } from 'zod';

// The fields that several operations on negotiation threads share. The contract has no codes of their own for them.

const pattern = /^thr_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `thr_` and a UUID, which alone is stored: handlers get the UUID. */
export const threadId = z
  .string({ error: ({ input }) => (input === undefined ? 'MISSING_FIELDS' : 'INVALID_FIELD') })
  .refine((text) => text.startsWith('thr_') && pattern.test(text), 'INVALID_FIELD')
  .transform((text) => text.slice('thr_'.length).toLowerCase());

/** An offer or the payload of a message, kept to the letter because it is signed. */
export const offer = jsonObject({ missing: 'MISSING_FIELDS', maxBytes: 16 * 1024 });
