import { uuid } from '@acsp/operation';
import { z } from 'zod';

// The fields that several operations on channels share, with their codes (interface 4.4).

export const channelId = uuid('INVALID_FIELD', 'MISSING_FIELDS');

const pattern = '^[a-z0-9_-]{1,64}$';
export const isChannelName = (text: string) => new RegExp(pattern).test(text);

export const channelName = z
  .string('INVALID_NAME')
  .refine(isChannelName, {
    error: 'INVALID_NAME',
    params: { detail: 'must be 1 to 64 of a-z, 0-9, - and _' },
  })
  .meta({ pattern });
