import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { type BaseContext, cacheActive, createDirectory, type Directory, type Peer, settings } from '@acsp/service';
import type { PrismaClient } from './generated/prisma/client.js';

/** The variables of messaging besides those of every service; README.md lists them for operators. */
export const variables = {
  IDENTITY_GRPC: settings.grpcAddress,
};

export interface Context extends BaseContext<PrismaClient, typeof variables> {
  readonly identity: Peer<typeof IdentityService>;
  /** Active agents, by AID. */
  readonly directory: Directory;
  /** The same for messages, which bind to no life of an agent: an end is seen when the bus tells of it. */
  readonly recipients: Directory;
  /** Changes of one thread that wait for each other in this process. */
  readonly turns: Map<string, Promise<void>>;
}

export function createContext(base: BaseContext<PrismaClient, typeof variables>): Context {
  const identity = base.peer(IdentityService, base.config.IDENTITY_GRPC);
  const directory = createDirectory(identity);
  return { ...base, identity, directory, recipients: cacheActive(directory, base), turns: new Map() };
}
