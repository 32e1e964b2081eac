import { EventsService } from '@acsp/contracts/events/v1/events';
import { defineService } from '@acsp/service';
import { onAgentDeleted } from './consumers/on-agent-deleted.js';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { writeFeeds } from './feed/write-feeds.js';
import { PrismaClient } from './generated/prisma/client.js';
import { batchGetPresence } from './operations/batch-get-presence.js';
import { createEventToken } from './operations/create-event-token.js';
import { getPresence } from './operations/get-presence.js';
import { heartbeat } from './operations/heartbeat.js';
import { listEvents } from './operations/list-events.js';
import { listPresences } from './operations/list-presences.js';
import { openRadio } from './operations/open-radio.js';
import { readFeed } from './operations/read-feed.js';
import { setPresence } from './operations/set-presence.js';
import { subscribePresence } from './operations/subscribe-presence.js';
import { sweepPresence } from './operations/sweep-presence.js';
import { sweep } from './presence/sweep.js';

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
    setPresence,
    heartbeat,
    listPresences,
    getPresence,
    subscribePresence,
    sweepPresence,
    readFeed,
    batchGetPresence,
  },
  onAgentDeleted,
  background: (context) => ({
    duties: [{ name: 'feeds', run: (signal) => writeFeeds(context, signal) }],
    jobs: [{ name: 'presence sweep', everyMs: 30_000, run: async (signal) => void (await sweep(context, signal)) }],
  }),
});
