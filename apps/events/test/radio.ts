import { EventSchema } from '@acsp/contracts/events/v1/event';
import { ChannelEventSchema, MessageEventSchema } from '@acsp/contracts/messaging/v1/events';
import { MessagingService } from '@acsp/contracts/messaging/v1/messaging';
import { newId } from '@acsp/database';
import { type Agent, requestFields, toMessage } from '@acsp/operation';
import { serveRpc } from '@acsp/rpc';
import { anonymous, type EventReader, eventually, readEvents } from '@acsp/testkit';
import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { anyPack, timestampFromMs, timestampNow } from '@bufbuild/protobuf/wkt';
import { type Events, type Options, startEvents } from './harness.js';

export interface TestChannel {
  readonly channel_id: string;
  readonly name: string;
  readonly is_public: boolean;
  readonly members: readonly string[];
}

/** A messaging service that has these channels, by its contract: of its rpcs the one that this service calls. */
export const serveChannels = (channels: readonly TestChannel[]) =>
  serveRpc({
    service: MessagingService,
    host: '127.0.0.1',
    port: 0,
    async handle(desc, request) {
      const { aid = '', names = [] } = requestFields(desc.input, request) as { aid?: string; names?: string[] };
      const mine = ({ members }: TestChannel) => members.includes(aid);
      const found = channels.filter((channel) =>
        names.length === 0 ? mine(channel) : names.includes(channel.name) && (channel.is_public || mine(channel)),
      );
      return toMessage(desc.output, { channels: found.map((one) => ({ ...one, is_member: mine(one) })) });
    },
  });

function event<Desc extends DescMessage>(type: string, audience: string[], payload: [Desc, MessageInitShape<Desc>]) {
  const [schema, fields] = payload;
  const packed = anyPack(schema, create(schema, fields));
  return create(EventSchema, { id: newId(), type, audience, occurredAt: timestampNow(), payload: packed });
}

export const messageTo = (aid: string, content: string) => {
  const payload = {
    messageId: newId(),
    fromAid: 'a'.repeat(50),
    fromName: 'Otto',
    toAid: aid,
    content,
    msgType: 'text',
  };
  return event('message.sent', [`agent:${aid}`], [MessageEventSchema, payload]);
};

export const postTo = ({ channel_id, name, is_public }: TestChannel, body: string) => {
  const post = { messageId: newId(), fromAid: 'a'.repeat(50), fromName: 'Otto', body, msgType: 'text' };
  const payload = { channelId: channel_id, channelName: name, isPublic: is_public, aid: 'a'.repeat(50), post };
  return event('channel.posted', [`channel:${channel_id}`], [ChannelEventSchema, payload]);
};

export function leftBy({ aid, registeredAt = 0 }: Agent, { channel_id, name, is_public }: TestChannel) {
  const registered = timestampFromMs(registeredAt);
  const payload = { channelId: channel_id, channelName: name, isPublic: is_public, aid, registeredAt: registered };
  return event('channel.left', [`channel:${channel_id}`], [ChannelEventSchema, payload]);
}

/** True once the newest message to the agent is this one. */
export async function isInFeed({ bus }: Events, aid: string, content = ''): Promise<boolean> {
  const [newest] = await bus.feed.latest([`agent:${aid}`], 1);
  return newest !== undefined && JSON.parse(newest.data).body === content;
}

export async function tokenOf(events: Events, owner: Agent): Promise<string> {
  const { body } = await events.call(owner, 'POST /events/token', { aid: owner.aid });
  return body.token;
}

export interface OpenStream extends EventReader {
  readonly response: Response;
  /** The texts of messages that have come. */
  bodies(): string[];
  cut(): void;
}

/** Opens a stream, whatever the answer. */
export async function open(
  events: Events,
  query: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const ending = new AbortController();
  const request = `GET /events/radio?${new URLSearchParams(query)}`;
  const response = await events.send(anonymous, request, { headers, signal: ending.signal });
  const reader = readEvents((response.ok ? response.body : []) as AsyncIterable<Uint8Array>);
  const bodies = () => reader.events.filter((each) => each.event === 'message').map(({ data }) => data.body);
  return { ...reader, response, bodies, cut: () => ending.abort() };
}

/** The same, once it is connected. */
export async function listen(...args: Parameters<typeof open>): Promise<OpenStream> {
  const stream = await open(...args);
  await eventually(() => stream.events.length > 0);
  return stream;
}

export const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `${from + index}`);

export const channel = (name: string, is_public: boolean, members: string[]): TestChannel => ({
  channel_id: newId(),
  name,
  is_public,
  members,
});

export interface Stations extends AsyncDisposable {
  readonly messaging: Awaited<ReturnType<typeof serveChannels>>;
  readonly events: Events;
  readonly replica: Events;
  /** Publishes direct messages. */
  send(to: Agent, ...contents: string[]): Promise<void>;
  post(target: TestChannel, body: string): Promise<void>;
}

/** Two replicas of the service on one database, beside a messaging service with these channels. */
export async function startStations(channels: readonly TestChannel[], options: Options = {}): Promise<Stations> {
  const messaging = await serveChannels(channels);
  const env = { MESSAGING_GRPC: messaging.address };
  const events = await startEvents({ env, ...options });
  const replica = await startEvents({ env, ...options, databaseUrl: events.databaseUrl });
  return {
    ...{ messaging, events, replica },
    send: ({ aid }, ...contents) =>
      events.bus.publish(
        'messaging',
        contents.map((content) => messageTo(aid, content)),
      ),
    post: (target, body) => events.bus.publish('messaging', [postTo(target, body)]),
    async [Symbol.asyncDispose]() {
      for (const each of [replica, events, messaging]) await each[Symbol.asyncDispose]();
    },
  };
}

export async function refusalOf({ response }: OpenStream): Promise<[number, string]> {
  const { code } = (await response.json()) as { code: string };
  return [response.status, code];
}
