import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { MessagingService } from '@acsp/contracts/messaging/v1/messaging';
import { type BaseContext, createDirectory, type Directory, type Peer } from '@acsp/service';
import { createStore, type Store } from '@acsp/store';
import { z } from 'zod';
import type { PrismaClient } from './generated/prisma/client.js';

/** The variables of events besides those of every service; README.md lists them for operators. */
export const variables = {
  IDENTITY_GRPC: z.string(),
  MESSAGING_GRPC: z.string(),
  /** Presence is kept there; absent keeps it in the service's own database. */
  REDIS_URL: z.string().optional(),
};

export interface Context extends BaseContext<PrismaClient, typeof variables> {
  readonly identity: Peer<typeof IdentityService>;
  readonly messaging: Peer<typeof MessagingService>;
  /** Active agents, by AID. */
  readonly directory: Directory;
  /** Presence. */
  readonly store: Store;
}

export function createContext(base: BaseContext<PrismaClient, typeof variables>): Context {
  const { config, log, use, peer } = base;
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl } = config;
  const identity = peer(IdentityService, config.IDENTITY_GRPC);
  return {
    ...base,
    identity,
    messaging: peer(MessagingService, config.MESSAGING_GRPC),
    directory: createDirectory(identity),
    store: use(createStore({ redisUrl, databaseUrl, prefix: 'presence:', onOutage: 'fail', log })),
  };
}
