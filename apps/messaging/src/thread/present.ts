import type { ThreadMessageSchema, ThreadSchema } from '@acsp/contracts/messaging/v1/threads';
import type { PublicOf } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Thread, ThreadMessage } from '../generated/prisma/client.js';
import { threadAt } from './decide.js';

/** The columns of a row, by name: a prepared statement with a star fails for good once a migration adds a column. */
export const threadColumns =
  'id, initiator_aid, responder_aid, initial_offer, status, messages_count, ttl_hours, created_at, updated_at, expires_at';

export type ThreadRow = Omit<Thread, 'latest_offer_by'>;

export const publicThreadId = (id: string): string => `thr_${id}`;

export function presentThread(row: ThreadRow, now: Date): PublicOf<typeof ThreadSchema> {
  const { id, initial_offer, ...thread } = threadAt(row, now);
  return { ...thread, thread_id: publicThreadId(id), initial_offer: initial_offer as JsonObject };
}

export const messageColumns = 'thread_id, number, id, sender_aid, message_type, payload, created_at';

/** A row as PostgreSQL's json functions give it: times are text. */
export type ThreadMessageRow = Omit<ThreadMessage, 'created_at'> & { readonly created_at: Date | string };

export const presentMessage = (row: ThreadMessageRow): PublicOf<typeof ThreadMessageSchema> => ({
  ...row,
  thread_id: publicThreadId(row.thread_id),
  payload: row.payload as JsonObject,
  created_at: new Date(row.created_at),
});
