// Compiled by `pnpm typecheck`, never run: each line marked as an error must stay one, or the compiler complains about the mark.
import {
  type MailboxEventSchema,
  type MessageEventSchema,
  NoticeEventSchema,
} from '@acsp/contracts/messaging/v1/events';
import { defineEvents, type EventRow, payloadOf } from '../src/index.js';

const events = defineEvents({ notice: NoticeEventSchema });
const at = new Date(0);
const head = { type: 'notice.sent', audience: ['global'], actor: null } as const;
const names = { message_id: '', from_aid: null, from_name: '', to_aid: '', msg_type: '' };
const payload = { ...names, content: '', match_score: 0.5 };

export const exact: EventRow = events.row({ ...head, payload }, at);

// @ts-expect-error a field of the payload is missing
export const missing = events.row({ ...head, payload: { ...names, match_score: null } }, at);
// @ts-expect-error a field of the payload is misspelt
export const misspelt = events.row({ ...head, payload: { ...names, text: '', match_score: null } }, at);
// @ts-expect-error a field of the payload has another type
export const mistyped = events.row({ ...head, payload: { ...payload, match_score: '0.5' } }, at);
// @ts-expect-error the service announces nothing of this noun
export const unknownNoun = events.row({ ...head, type: 'letter.sent', payload }, at);

declare const event: Parameters<typeof payloadOf>[1];
export const score: number | null = payloadOf(NoticeEventSchema, event).match_score;
// @ts-expect-error a consumer reads a field that the payload has under another name
export const read = payloadOf(NoticeEventSchema, event).matchScore;

// Payloads are told apart by the noun of the type.
declare const two: ReturnType<
  typeof defineEvents<{ message: typeof MessageEventSchema; mailbox: typeof MailboxEventSchema }>
>;
const read_mailbox = { aid: '', updated: 1, unread_count: 1 };
// @ts-expect-error the payload is that of another noun
export const swapped = two.row({ ...head, type: 'message.sent', payload: read_mailbox }, at);
