import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { MessagingService } from '@acsp/contracts/messaging/v1/messaging';
import { deleteExpiredPeriodically } from '@acsp/database';
import { type BaseContext, createDirectory, type Directory, type Peer, settings } from '@acsp/service';
import { createStore, type Store } from '@acsp/store';
import { z } from 'zod';
import type { PrismaClient } from './generated/prisma/client.js';
import { expiredRadios } from './radio/claim.js';
import { followChanges } from './radio/follow-changes.js';
import { createHub, type Hub } from './radio/hub.js';
import { recordLiveness } from './radio/record-liveness.js';
import { createTokens, type Tokens } from './token/tokens.js';

/** The variables of events besides those of every service; README.md lists them for operators. */
export const variables = {
  IDENTITY_GRPC: settings.grpcAddress,
  MESSAGING_GRPC: settings.grpcAddress,
  /** Presence is kept there; absent keeps it in the service's own database. */
  REDIS_URL: settings.redisUrl.optional(),
  /** The longest stream; a stream ends up to a 28th earlier, so that not all end at once. */
  STREAM_SECONDS: z.coerce.number().int().min(1).max(280).default(280),
};

export interface Context extends BaseContext<PrismaClient, typeof variables> {
  readonly identity: Peer<typeof IdentityService>;
  readonly messaging: Peer<typeof MessagingService>;
  /** Active agents, by AID. */
  readonly directory: Directory;
  /** Presence. */
  readonly store: Store;
  readonly tokens: Tokens;
  readonly hub: Hub;
}

export function createContext(base: BaseContext<PrismaClient, typeof variables>): Context {
  const { config, log, use, peer, bus } = base;
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl } = config;
  const identity = peer(IdentityService, config.IDENTITY_GRPC);
  const liveness = use(recordLiveness(base));
  const hub = use(createHub({ feed: bus.feed, log, onEnd: liveness.ended }));
  use(liveness.watch(hub));
  use(followChanges(base, hub));
  use(deleteExpiredPeriodically(base.database, { name: 'old streams', rows: [expiredRadios], log }));
  return {
    ...base,
    identity,
    messaging: peer(MessagingService, config.MESSAGING_GRPC),
    directory: createDirectory(identity),
    store: use(createStore({ redisUrl, databaseUrl, prefix: 'presence:', onOutage: 'fail', log })),
    tokens: createTokens(config.PRINCIPAL_SECRET),
    hub,
  };
}
