import { type Bus, payloadOf } from '@acsp/bus';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import type { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import { LRUCache } from 'lru-cache';
import { gatherKeys, type LookUp } from './gather-keys.js';
import type { Peer } from './peer.js';

/** Answers when the active ones among these agents registered, which tells one life of an AID from another. Throws SERVICE_UNAVAILABLE while identity is away. */
export type Directory = LookUp<Date>;

/** The limit of BatchGetAgents. */
const maxAids = 100;

export const createDirectory = (identity: Pick<Peer<typeof IdentityService>, 'batchGetAgents'>): Directory =>
  gatherKeys(maxAids, async (aids) => {
    const { agents, registered_at } = await identity.batchGetAgents({ aids });
    return new Map(agents.map(({ aid }, index) => [aid, registered_at[index] ?? new Date(0)]));
  });

/** How long an answer is kept while ends of agents are seen, and while they are not. */
const [watchedMs, unwatchedMs] = [5_000, 500];
/** 200 bytes each. */
const maxAgents = 10_000;

interface Watching {
  readonly bus: Pick<Bus, 'watch'>;
  readonly use: <T extends AsyncDisposable>(resource: T) => T;
  readonly nowMs?: () => number;
}

/**
 * Caches who is active until the bus says that the agent was deleted or revoked: looking the recipient up would be a third of the time that a message
 * takes. Absence is not cached, so an agent that has just registered gets messages at once. It need not be right within a second, so no heartbeat
 * proves the path: while identity's relay stands still, an agent that is gone may get messages for five seconds.
 */
export function cacheActive(directory: Directory, { bus, use, nowMs = () => performance.now() }: Watching): Directory {
  const cache = new LRUCache<string, Date>({ max: maxAgents, ttlResolution: 0, perf: { now: nowMs } });
  let invalidations = 0;
  let ttl = unwatchedMs;
  use(
    bus.watch({
      subjects: ['acsp.identity.agent.deleted', 'acsp.identity.agent.revoked'],
      handle(event) {
        invalidations += 1;
        cache.delete(payloadOf(AgentEventSchema, event).aid);
      },
      onLive(isLive) {
        invalidations += 1;
        ttl = isLive ? watchedMs : unwatchedMs;
        cache.clear();
      },
    }),
  );
  return async (aids) => {
    const [start, before] = [nowMs(), invalidations];
    const active = new Map<string, Date>();
    for (const aid of aids) {
      const registered_at = cache.get(aid);
      if (registered_at !== undefined) active.set(aid, registered_at);
    }
    const others = aids.filter((aid) => !active.has(aid));
    if (others.length === 0) return active;
    for (const [aid, registered_at] of await directory(others)) {
      active.set(aid, registered_at);
      // An agent that ended while it was looked up may have been seen alive.
      if (invalidations === before) cache.set(aid, registered_at, { ttl, start });
    }
    return active;
  };
}

/** Answers as the directory does, but throws unless all of them are active. */
export async function requireActive(
  directory: Directory,
  aids: readonly string[],
  code: 'TARGET_NOT_FOUND' | 'AID_NOT_FOUND' = 'TARGET_NOT_FOUND',
): ReturnType<Directory> {
  const active = await directory(aids);
  const missing = aids.find((aid) => !active.has(aid));
  if (missing !== undefined) throw new AppError(code, { detail: `No active agent with the AID ${missing}` });
  return active;
}
