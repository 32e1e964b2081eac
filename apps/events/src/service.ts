import { EventsService } from '@acsp/contracts/events/v1/events';
import { unbuilt } from '@acsp/operation';
import { defineService } from '@acsp/service';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { PrismaClient } from './generated/prisma/client.js';

export const service = defineService({
  name: 'events',
  contract: EventsService,
  events: events.payloads,
  config: variables,
  migrations: new URL('../prisma/migrations', import.meta.url),
  client: PrismaClient,
  context: createContext,
  operations: {
    createEventToken: unbuilt,
    openRadio: unbuilt,
    listEvents: unbuilt,
    setPresence: unbuilt,
    heartbeat: unbuilt,
    listPresences: unbuilt,
    getPresence: unbuilt,
    subscribePresence: unbuilt,
    sweepPresence: unbuilt,
    readFeed: unbuilt,
    batchGetPresence: unbuilt,
  },
});
