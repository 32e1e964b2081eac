import { ReadFeedRequestSchema } from '@acsp/contracts/events/v1/events';
import { byAnyone, fieldsOf, integer } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { eventIdField, positionOf } from '../feed/event-id.js';
import { listFeeds } from '../feed/list.js';

const feedName = z
  .string('INVALID_FIELD')
  .regex(/^(global|(agent|channel|presence):[0-9a-f-]{1,64})$/, 'INVALID_FIELD');

/** For services: one feed, from the oldest event that is kept or from behind another. */
export const readFeed = byAnyone(
  fieldsOf(ReadFeedRequestSchema)({
    feed: feedName,
    after: eventIdField.optional(),
    limit: integer(1, 500).default(100),
  }),
  ({ bus }: Context, { feed, after, limit }) =>
    listFeeds(bus.feed, [feed], { after: after == null ? 0 : positionOf(after), limit }),
);
