import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { SearchService } from '@acsp/contracts/search/v1/search';
import { type Coalesce, createCoalesce, createLane, type Lane } from '@acsp/database';
import { type BaseContext, cacheActive, createDirectory, type Directory, type Peer, settings } from '@acsp/service';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { PrismaClient } from './generated/prisma/client.js';
import type { Details } from './operations/get-task.js';
import type { Page } from './operations/list-tasks.js';
import type { KnownTask } from './task/known-tasks.js';

/** The variables of tasks besides those of every service; README.md lists them for operators. */
export const variables = {
  IDENTITY_GRPC: settings.grpcAddress,
  /** Absent: claims have no match_score. */
  SEARCH_GRPC: settings.grpcAddress.optional(),
  /** The time that a claim waits for its match_score. */
  MATCH_TIMEOUT_MS: z.coerce.number().int().min(1).max(5_000).default(300),
};

export interface Context extends BaseContext<PrismaClient, typeof variables> {
  /** Active agents, by AID: an end is seen when the bus tells of it. */
  readonly targets: Directory;
  /** Absent where no search service is deployed. */
  readonly search: Peer<typeof SearchService> | undefined;
  /**
   * Tasks as this process last knew them. A change that is decided on a stale one is not written, so it need not be
   * fresh. Without it every change reads first: gRPC cycles fall from 951/s to 876. Each claim counts.
   */
  readonly known: LRUCache<string, KnownTask>;
  /** Changes of one task that wait for each other in this process. */
  readonly turns: Map<string, Promise<void>>;
  /** Details that are being read, by task. */
  readonly details: Coalesce<Details>;
  /** Tasks whose details were seen to be large, and the lane in which those are read. */
  readonly largeTasks: { readonly known: LRUCache<string, true>; readonly lane: Lane };
  /** Pages of lists that are being read, by their filters and place. Without it a process answers 815 lists of open tasks a second in place of 1,152. */
  readonly pages: Coalesce<Page>;
  /**
   * The totals of filters that take long to count, as of the last two seconds. Without it a process answers 309 lists of one's own a second
   * in place of 558, where an agent has hundreds.
   */
  readonly totals: LRUCache<string, Promise<number>>;
}

/** A caller waits less long than the gateway does. */
const largeTasks = { width: 1, maxWaiting: 64, maxWaitMs: 8_000, detail: 'Too many large tasks are being read' };

export function createContext(base: BaseContext<PrismaClient, typeof variables>): Context {
  const { IDENTITY_GRPC, SEARCH_GRPC } = base.config;
  return {
    ...base,
    targets: cacheActive(createDirectory(base.peer(IdentityService, IDENTITY_GRPC)), base),
    search: SEARCH_GRPC === undefined ? undefined : base.peer(SearchService, SEARCH_GRPC),
    known: new LRUCache({ max: 5_000, maxSize: 20_000, sizeCalculation: ({ task }) => 1 + task.claims.length }),
    turns: new Map(),
    details: createCoalesce(),
    largeTasks: { known: new LRUCache({ max: 1_000 }), lane: createLane(largeTasks) },
    pages: createCoalesce(),
    totals: new LRUCache({ max: 500, ttl: 2_000 }),
  };
}
