import { PostChannelMessageRequestSchema } from '@acsp/contracts/messaging/v1/channels';
import { byAgent, callerAid, fieldsOf } from '@acsp/operation';
import { channelId } from '../channel/fields.js';
import { postToChannel } from '../channel/post.js';
import type { Context } from '../context.js';
import { content } from '../direct/fields.js';

export const postChannelMessage = byAgent(
  fieldsOf(PostChannelMessageRequestSchema)({ aid: callerAid, channel_id: channelId, body: content(4096) }),
  (context: Context, { channel_id, body }, sender, call) =>
    postToChannel(
      context,
      {
        draft: { channel_id, body, msg_type: 'text', metadata: {} },
        answer: (message, { name }) => ({ ...message, channel_name: name }),
      },
      { sender, call },
    ),
);
