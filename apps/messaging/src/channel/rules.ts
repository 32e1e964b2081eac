import type { ErrorCode } from '@acsp/errors';
import type { Channel } from '../generated/prisma/client.js';

/** A channel, and what an agent is in it, as the rules see both. */
export interface Standing extends Pick<Channel, 'is_public' | 'channel_type' | 'created_by'> {
  readonly aid: string;
  readonly is_member: boolean;
  readonly is_invited: boolean;
}

// Each rule answers why the agent may not do something, if so. What an agent may not see does not exist for it.

/** A private channel is shown to its members. */
export const refuseReading = ({ is_public, is_member }: Standing): ErrorCode | undefined =>
  is_public || is_member ? undefined : 'CHANNEL_NOT_FOUND';

/** A private channel takes those who were invited. */
export const refuseJoining = (standing: Standing): ErrorCode | undefined =>
  standing.is_invited ? undefined : refuseReading(standing);

export const refuseInviting = (standing: Standing): ErrorCode | undefined =>
  refuseReading(standing) ?? (standing.is_member ? undefined : 'NOT_MEMBER');

/** In an `announce` channel its creator posts, and nobody else. */
export function refusePosting(standing: Standing): ErrorCode | undefined {
  const { channel_type, created_by, aid } = standing;
  const isReserved = channel_type === 'announce' && created_by !== aid;
  return refuseInviting(standing) ?? (isReserved ? 'PERMISSION_DENIED' : undefined);
}
