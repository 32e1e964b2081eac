import { aid, metadata, oneOf, text } from '@acsp/operation';

// The fields that several operations on direct messages share, with their codes (interface 4.3, 7.1).

export const targetAid = aid({ code: 'INVALID_TARGET_AID' });
export const messageMetadata = metadata().default({});

const rule = { missing: 'MISSING_CONTENT', blank: 'MISSING_CONTENT', code: 'INVALID_CONTENT' } as const;

/** The content of a message, kept to the letter because it may be signed. */
export const content = (max: number) => text({ ...rule, max });

const maxBytes = 16 * 1024;
/** The same where the limit is in bytes of UTF-8. */
export const longContent = content(maxBytes).refine((value) => Buffer.byteLength(value) <= maxBytes, 'INVALID_CONTENT');

export const msgType = oneOf(['text', 'request', 'response', 'system']).default('text');

/** A text of the agents' own by which they join messages. */
export const threadId = text({ max: 128 }).refine((value) => !/\p{Cc}/u.test(value), 'INVALID_FIELD');
