import type { ChannelEventSchema } from '@acsp/contracts/messaging/v1/events';
import type { PublicOf } from '@acsp/operation';
import type { Channel } from '../generated/prisma/client.js';

type Payload = PublicOf<typeof ChannelEventSchema>;

/** The payload of an event of a channel that concerns an agent. */
export const channelPayload = (
  { channel_id, name, is_public }: Pick<Channel, 'channel_id' | 'name' | 'is_public'>,
  aid: string,
  own: Partial<Pick<Payload, 'post' | 'registered_at'>> = {},
): Payload => ({ channel_id, channel_name: name, is_public, aid, post: null, registered_at: null, ...own });
