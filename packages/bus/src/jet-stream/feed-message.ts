import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { FeedMessage, NewMessage } from '../feed.js';
import type { Sent } from './publish.js';
import { feedSubject } from './streams.js';

const names = { event: 'Acsp-Event', channel: 'Acsp-Channel', createdAt: 'Acsp-Created-At' } as const;

export function toHeaders({ event, channel, created_at }: NewMessage): MsgHdrs {
  const carried = headers();
  carried.set(names.event, event);
  if (channel !== undefined) carried.set(names.channel, channel);
  carried.set(names.createdAt, `${created_at.getTime()}`);
  return carried;
}

export function toSent(message: NewMessage): Sent {
  const carried = toHeaders(message);
  carried.set('Nats-Msg-Id', `${message.id} ${message.feed}`);
  return { subject: feedSubject(message.feed), data: message.data, headers: carried };
}

interface Stored {
  readonly subject: string;
  readonly headers?: MsgHdrs | undefined;
  string(): string;
}

/** `prefix`: what goes before the feed in the subject. */
export function toFeedMessage(stored: Stored, prefix: string, position: number | undefined): FeedMessage {
  const carried = stored.headers ?? headers();
  return {
    position,
    feed: stored.subject.slice(prefix.length).replace('.', ':'),
    event: carried.get(names.event),
    channel: carried.get(names.channel) || null,
    data: stored.string(),
    created_at: new Date(Number(carried.get(names.createdAt))),
  };
}
