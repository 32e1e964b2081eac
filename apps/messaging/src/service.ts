import { MessagingService } from '@acsp/contracts/messaging/v1/messaging';
import { unbuilt } from '@acsp/operation';
import { defineService } from '@acsp/service';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { PrismaClient } from './generated/prisma/client.js';
import { broadcastDirect } from './operations/broadcast-direct.js';
import { getHistory } from './operations/get-history.js';
import { getInbox } from './operations/get-inbox.js';
import { markInboxRead } from './operations/mark-inbox-read.js';
import { notify } from './operations/notify.js';
import { propose } from './operations/propose.js';
import { sendDirect } from './operations/send-direct.js';
import { sendMessage } from './operations/send-message.js';

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
    broadcastToChannel: unbuilt,
    listChannels: unbuilt,
    createChannel: unbuilt,
    joinChannel: unbuilt,
    inviteToChannel: unbuilt,
    listChannelMessages: unbuilt,
    postChannelMessage: unbuilt,
    createThread: unbuilt,
    postThreadMessage: unbuilt,
    updateThreadStatus: unbuilt,
    getThread: unbuilt,
    listThreads: unbuilt,
  },
});
