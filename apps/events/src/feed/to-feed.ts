import { type NewMessage, payloadOf } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import {
  ChannelEventSchema,
  MessageEventSchema,
  NoticeEventSchema,
  ThreadEventSchema,
} from '@acsp/contracts/messaging/v1/events';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import type { DescMessage } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';

type Shown = Pick<NewMessage, 'event' | 'channel'> & { readonly data: object };

/** Agents see this of an event, by its noun (decisions 6.3); nothing where events of a noun are between services. */
export const shownOf: Readonly<Record<string, ((event: Event) => Shown) | undefined>> = {
  message(event) {
    const { message_id, from_aid, from_name, content, msg_type, thread_id } = payloadOf(MessageEventSchema, event);
    return { event: 'message', data: { message_id, from_aid, from_name, body: content, msg_type, thread_id } };
  },
  notice(event) {
    const { message_id, from_aid, msg_type, match_score } = payloadOf(NoticeEventSchema, event);
    const score = match_score === null ? {} : { match_score };
    return { event: 'inbox', data: { message_id, kind: msg_type, from_aid, ...score } };
  },
  channel(event) {
    const { post, registered_at: _life, ...payload } = payloadOf(ChannelEventSchema, event);
    const channel = payload.channel_name;
    if (post === null) return { event: 'channel', channel, data: { type: event.type, ...payload } };
    const { message_id, from_aid, from_name, body, msg_type } = post;
    const data = { message_id, from_aid, from_name, body, msg_type, thread_id: null, channel };
    return { event: 'message', channel, data };
  },
  thread: whole('thread', ThreadEventSchema),
  task: whole('task', TaskEventSchema),
  agent: undefined,
  login_key: undefined,
  path: undefined,
  mailbox: undefined,
  radio: undefined,
  watch: undefined,
};

/** The payload as it is, with the type of the event. */
function whole(event: string, schema: DescMessage) {
  return (source: Event): Shown => ({ event, data: { type: source.type, ...(payloadOf(schema, source) as object) } });
}

/** The messages of an event for the feeds of its audience. Throws where its payload is another one than its type says. */
export function toFeed(event: Event): NewMessage[] {
  const show = shownOf[event.type.slice(0, event.type.indexOf('.'))];
  if (show === undefined || event.audience.length === 0) return [];
  const { data, ...shown } = show(event);
  const created_at = event.occurredAt === undefined ? new Date() : timestampDate(event.occurredAt);
  const message = { ...shown, id: event.id, data: JSON.stringify(data), created_at };
  // The name of a channel is of no use in the feed of an agent.
  return event.audience.map((feed) =>
    feed.startsWith('channel:') ? { ...message, feed } : { ...message, feed, channel: undefined },
  );
}
