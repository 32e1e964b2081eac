import type { DirectMessageSchema, InboxItemSchema } from '@acsp/contracts/messaging/v1/messaging';
import type { PublicOf } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Message } from '../generated/prisma/client.js';

/** The part of a message that is shown. */
export type MessageRow = Omit<Message, 'notice_key'>;

/** The columns of a row, by name: a prepared statement with a star fails for good once a migration adds a column. */
export const messageColumns =
  'id, to_aid, from_aid, from_name, content, msg_type, thread_id, metadata, match_score, read, "timestamp", signature, verified, created_at';

/** The contents of one page: as JSON they are up to six times as long, which keeps an answer below 8 MiB. */
export const maxContentBytes = 2 ** 20;

type Presented = PublicOf<typeof InboxItemSchema> & PublicOf<typeof DirectMessageSchema>;

export const presentMessage = (row: MessageRow): Presented => ({
  ...row,
  metadata: row.metadata as JsonObject,
});
