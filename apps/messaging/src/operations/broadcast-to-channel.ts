import { BroadcastToChannelRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { byAgent, callerAid, fieldsOf } from '@acsp/operation';
import { channelId } from '../channel/fields.js';
import { postToChannel } from '../channel/post.js';
import type { Context } from '../context.js';
import { content, messageMetadata, msgType } from '../direct/fields.js';

/** A channel message that has a type and metadata. The broadcast's id is the message's. */
export const broadcastToChannel = byAgent(
  fieldsOf(BroadcastToChannelRequestSchema)({
    aid: callerAid,
    channel_id: channelId,
    content: content(2048),
    msg_type: msgType,
    metadata: messageMetadata,
  }),
  (context: Context, { channel_id, content, msg_type, metadata }, sender, call) =>
    postToChannel(
      context,
      {
        draft: { channel_id, body: content, msg_type, metadata },
        answer: ({ id, created_at }, { members }) => ({
          ...{ broadcast_id: id, channel_id, recipients: members - 1, created_at },
        }),
      },
      { sender, call },
    ),
);
