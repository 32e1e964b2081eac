import { metadata, oneOf } from '@acsp/operation';
import { statuses } from './rules.js';

// The fields that the operations on presence share, with their codes (interface 4.6).

export const status = oneOf(statuses, 'INVALID_FIELD', 'MISSING_FIELDS');

export const presenceMetadata = metadata().optional();
