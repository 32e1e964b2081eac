import { defineEvents } from '@acsp/bus';
import {
  ChannelEventSchema,
  MailboxEventSchema,
  MessageEventSchema,
  NoticeEventSchema,
  ThreadEventSchema,
} from '@acsp/contracts/messaging/v1/events';

export const events = defineEvents({
  message: MessageEventSchema,
  notice: NoticeEventSchema,
  mailbox: MailboxEventSchema,
  channel: ChannelEventSchema,
  thread: ThreadEventSchema,
});
