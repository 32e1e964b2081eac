import type { DirectMessageSchema, InboxItemSchema } from '@acsp/contracts/messaging/v1/messaging';
import type { PublicOf } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Message } from '../generated/prisma/client.js';

/** A message as PostgreSQL's json functions give it: times are text. */
export type MessageRow = Omit<Message, 'created_at' | 'notice_key'> & { readonly created_at: Date | string };

/** The columns of a row, by name: a prepared statement with a star fails for good once a migration adds a column. */
export const messageColumns =
  'id, to_aid, from_aid, from_name, content, msg_type, thread_id, metadata, match_score, read, "timestamp", signature, verified, created_at';

/** Of the contents of one page, as JSON. */
export const maxContentBytes = 6 * 2 ** 20;

export const presentItem = (row: MessageRow): PublicOf<typeof InboxItemSchema> => ({
  ...row,
  metadata: row.metadata as JsonObject,
  created_at: new Date(row.created_at),
});

export const presentMessage = (row: MessageRow): PublicOf<typeof DirectMessageSchema> => presentItem(row) as never;
