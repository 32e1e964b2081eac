import { EventsService } from '@acsp/contracts/events/v1/events';
import { unbuilt } from '@acsp/operation';
import { defineService } from '@acsp/service';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { writeFeeds } from './feed/write-feeds.js';
import { PrismaClient } from './generated/prisma/client.js';
import { createEventToken } from './operations/create-event-token.js';
import { listEvents } from './operations/list-events.js';
import { openRadio } from './operations/open-radio.js';
import { readFeed } from './operations/read-feed.js';

export const service = defineService({
  name: 'events',
  contract: EventsService,
  events: events.payloads,
  config: variables,
  migrations: new URL('../prisma/migrations', import.meta.url),
  client: PrismaClient,
  context: createContext,
  operations: {
    createEventToken,
    openRadio,
    listEvents,
    setPresence: unbuilt,
    heartbeat: unbuilt,
    listPresences: unbuilt,
    getPresence: unbuilt,
    subscribePresence: unbuilt,
    sweepPresence: unbuilt,
    readFeed,
    batchGetPresence: unbuilt,
  },
  background: (context) => ({
    duties: [{ name: 'feeds', run: (signal) => writeFeeds(context, signal) }],
  }),
});
