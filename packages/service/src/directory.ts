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

/** The same, but throws TARGET_NOT_FOUND unless all of them are active. */
export async function requireActive(directory: Directory, aids: readonly string[]): ReturnType<Directory> {
  const active = await directory(aids);
  const missing = aids.find((aid) => !active.has(aid));
  if (missing !== undefined)
    throw new AppError('TARGET_NOT_FOUND', { detail: `No active agent with the AID ${missing}` });
  return active;
}
