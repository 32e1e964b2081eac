import type { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
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

const recentMs = 500;

/**
 * Answers that may be half a second old: an agent that is deleted or revoked gets no message a second later, and one that many write to is looked up
 * twice a second. Absence is not kept, so an agent that has just registered gets messages at once.
 */
export function keepRecent(directory: Directory, nowMs: () => number = () => performance.now()): Directory {
  let recent = { since: Number.NEGATIVE_INFINITY, active: new Map<string, Date>() };
  return async (aids) => {
    if (nowMs() - recent.since >= recentMs) recent = { since: nowMs(), active: new Map() };
    const { active } = recent;
    const others = aids.filter((aid) => !active.has(aid));
    if (others.length > 0) for (const [aid, registered] of await directory(others)) active.set(aid, registered);
    return active;
  };
}

/** Answers as the directory does, but throws TARGET_NOT_FOUND unless all of them are active. */
export async function requireActive(directory: Directory, aids: readonly string[]): ReturnType<Directory> {
  const active = await directory(aids);
  const missing = aids.find((aid) => !active.has(aid));
  if (missing !== undefined)
    throw new AppError('TARGET_NOT_FOUND', { detail: `No active agent with the AID ${missing}` });
  return active;
}
