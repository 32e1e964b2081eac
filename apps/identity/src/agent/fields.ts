import { isPublicKey } from '@acsp/crypto';
import type { ErrorCode } from '@acsp/errors';
import { aid, metadata, name, text, textList } from '@acsp/operation';
import { z } from 'zod';
import { isReservedName } from './is-reserved-name.js';

// The fields that several operations of identity share, with their codes (interface 2.2, 4.1, 7.1).

/** The AID of the caller, or of the agent that is asked about. */
export const agentAid = aid();
export const ownAid = aid({ missing: 'MISSING_FIELDS', code: 'INVALID_AID' });
export const agentMetadata = metadata();
export const ownerId = text({ max: 128 });
export const endpoint = text({ max: 2048 }).refine(isWebUrl, 'INVALID_FIELD');

/** Absent is MISSING_FIELDS here: registration, agent-init and quickstart say so of every field that they need. */
export const agentName = name({ max: 100, missing: 'MISSING_FIELDS', code: 'INVALID_NAME' }).refine(
  (value) => !isReservedName(value),
  { error: 'INVALID_NAME', params: { detail: 'is the name of the service' } },
);
export const capabilities = textList({
  min: 1,
  max: 50,
  maxLength: 100,
  missing: 'MISSING_FIELDS',
  code: 'INVALID_CAPABILITIES',
});
/** Their compact form: one text, split at commas or else at white space. */
export const compactCapabilities = z
  .string({ error: missingOr('INVALID_CAPABILITIES') })
  .refine((value) => capabilities.safeParse(splitCapabilities(value)).success, 'INVALID_CAPABILITIES');
export const description = text({ max: 500, missing: 'MISSING_FIELDS' });
export const longDescription = text({ max: 1000, missing: 'MISSING_FIELDS' });
/** The output is in lower case. */
export const publicKey = z
  .string({ error: missingOr('INVALID_PUBLIC_KEY') })
  .refine(isPublicKey, 'INVALID_PUBLIC_KEY')
  .toLowerCase();

/** Optional fields of every registration. */
export const extras = {
  owner_id: ownerId.optional(),
  endpoint: endpoint.optional(),
  metadata: agentMetadata.default({}),
};

function missingOr(code: ErrorCode) {
  return ({ input }: { readonly input?: unknown }) => (input === undefined ? 'MISSING_FIELDS' : code);
}

export function splitCapabilities(value: string): string[] {
  const parts = value.split(value.includes(',') ? ',' : /\s+/).map((part) => part.trim());
  return [...new Set(parts.filter((part) => part !== ''))];
}

function isWebUrl(value: string): boolean {
  return /^https?:\/\/\S+$/i.test(value) && URL.canParse(value);
}
