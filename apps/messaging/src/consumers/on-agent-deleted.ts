import type { Departed } from '@acsp/service';
import { channelPayload } from '../channel/channel-event.js';
import { leaveChannels, membershipKey } from '../channel/membership.js';
import type { Context } from '../context.js';
import { events } from '../events.js';
import type { Channel, ChannelMember } from '../generated/prisma/client.js';

const pageSize = 200;

/** An agent is gone: its memberships end, and invitations of it are void. */
export async function onAgentDeleted(context: Context, { aid, registered_at }: Departed): Promise<void> {
  const { prisma, batch } = context.database;
  for (let found = pageSize; found === pageSize; ) {
    const memberships = await prisma.$queryRaw<Membership[]>`
      SELECT aid, channel_id, since, name, is_public FROM channel_member JOIN channel USING (channel_id)
      WHERE aid = ${aid} AND since <= ${registered_at}::timestamptz ORDER BY channel_id LIMIT ${pageSize}::int`;
    await Promise.all(memberships.map((membership) => batch(leaveChannels, leaving(membership, context.clock.now()))));
    found = memberships.length;
  }
  await prisma.channelInvitation.deleteMany({ where: { aid, since: { lte: registered_at } } });
}

type Membership = ChannelMember & Pick<Channel, 'name' | 'is_public'>;

function leaving({ aid, channel_id, since, ...channel }: Membership, at: Date) {
  const member = { aid, channel_id, since };
  const payload = channelPayload({ channel_id, ...channel }, aid, { registered_at: since });
  const left = { type: 'channel.left', audience: [`channel:${channel_id}`], actor: null, payload } as const;
  return { key: membershipKey(member), ...member, ...events.row(left, at) };
}
