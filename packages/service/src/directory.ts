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

/** How old an answer may be while ends of agents are seen, and while they are not. */
const [watchedMs, unwatchedMs] = [30_000, 500];
/** Agents that are kept in memory, 200 bytes each. */
const maxKept = 10_000;

interface Watching {
  readonly bus: Pick<Bus, 'watch'>;
  readonly use: <T extends AsyncDisposable>(resource: T) => T;
  readonly nowMs?: () => number;
}

/**
 * Keeps who is active until the bus says that the agent was deleted or revoked: most messages go to agents that have just got one, and looking them
 * up would be a third of the time that a message takes. Absence is not kept, so an agent that has just registered gets messages at once.
 */
export function keepActive(directory: Directory, { bus, use, nowMs = () => performance.now() }: Watching): Directory {
  const kept = new LRUCache<string, { readonly registered_at: Date; readonly since: number }>({ max: maxKept });
  let ends = 0;
  let live = false;
  use(
    bus.watch({
      subjects: ['acsp.identity.agent.deleted', 'acsp.identity.agent.revoked'],
      handle(event) {
        ends += 1;
        kept.delete(payloadOf(AgentEventSchema, event).aid);
      },
      onLive(isLive) {
        ends += 1;
        live = isLive;
        kept.clear();
      },
    }),
  );
  return async (aids) => {
    const [since, endsBefore] = [nowMs(), ends];
    const oldest = since - (live ? watchedMs : unwatchedMs);
    const active = new Map<string, Date>();
    const others: string[] = [];
    for (const aid of aids) {
      const known = kept.get(aid);
      if (known !== undefined && known.since > oldest) active.set(aid, known.registered_at);
      else others.push(aid);
    }
    if (others.length === 0) return active;
    for (const [aid, registered_at] of await directory(others)) {
      active.set(aid, registered_at);
      // An agent that ended while it was looked up may have been seen alive.
      if (ends === endsBefore) kept.set(aid, { registered_at, since });
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
