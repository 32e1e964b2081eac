import { MessagingService } from '@acsp/contracts/messaging/v1/messaging';
import { defineService } from '@acsp/service';
import { onAgentDeleted } from './consumers/on-agent-deleted.js';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { PrismaClient } from './generated/prisma/client.js';
import { broadcastDirect } from './operations/broadcast-direct.js';
import { broadcastToChannel } from './operations/broadcast-to-channel.js';
import { createChannel } from './operations/create-channel.js';
import { createThread } from './operations/create-thread.js';
import { findChannels } from './operations/find-channels.js';
import { getHistory } from './operations/get-history.js';
import { getInbox } from './operations/get-inbox.js';
import { getThread } from './operations/get-thread.js';
import { inviteToChannel } from './operations/invite-to-channel.js';
import { joinChannel } from './operations/join-channel.js';
import { listChannelMessages } from './operations/list-channel-messages.js';
import { listChannels } from './operations/list-channels.js';
import { listThreads } from './operations/list-threads.js';
import { markInboxRead } from './operations/mark-inbox-read.js';
import { notify } from './operations/notify.js';
import { postChannelMessage } from './operations/post-channel-message.js';
import { postThreadMessage } from './operations/post-thread-message.js';
import { propose } from './operations/propose.js';
import { sendDirect } from './operations/send-direct.js';
import { sendMessage } from './operations/send-message.js';
import { updateThreadStatus } from './operations/update-thread-status.js';
import { expireThreads } from './thread/expire-threads.js';

export const service = defineService({
  name: 'messaging',
  contract: MessagingService,
  events: events.payloads,
  config: variables,
  migrations: new URL('../prisma/migrations', import.meta.url),
  client: PrismaClient,
  context: createContext,
  operations: {
    sendDirect,
    sendMessage,
    getInbox,
    markInboxRead,
    broadcastDirect,
    getHistory,
    propose,
    notify,
    findChannels,
    broadcastToChannel,
    listChannels,
    createChannel,
    joinChannel,
    inviteToChannel,
    listChannelMessages,
    postChannelMessage,
    createThread,
    postThreadMessage,
    updateThreadStatus,
    getThread,
    listThreads,
  },
  onAgentDeleted,
  background: (context) => ({
    jobs: [{ name: 'threads expiry', everyMs: 30_000, run: (signal) => expireThreads(context, signal) }],
  }),
});
