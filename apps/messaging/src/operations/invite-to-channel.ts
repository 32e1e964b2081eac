import { InviteToChannelRequestSchema } from '@acsp/contracts/messaging/v1/channels';
import { newId, type Transaction } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { aid, byAgent, callerAid, fieldsOf, lifeOf } from '@acsp/operation';
import { requireActive } from '@acsp/service';
import { noticeName } from '@acsp/text';
import { channelPayload } from '../channel/channel-event.js';
import { channelId } from '../channel/fields.js';
import { readChannel } from '../channel/known-channel.js';
import { refuseInviting } from '../channel/rules.js';
import type { Context } from '../context.js';
import { deliver } from '../direct/deliver.js';
import { events } from '../events.js';
import type { ChannelMember, PrismaClient } from '../generated/prisma/client.js';

/** Lets an agent into a channel, and tells it so. A second invitation of the same agent changes nothing, and neither does that of a member. */
export const inviteToChannel = byAgent(
  fieldsOf(InviteToChannelRequestSchema)({ aid: callerAid, channel_id: channelId, invitee_aid: aid() }),
  async (context: Context, { channel_id, invitee_aid }, inviter, call) => {
    const channel = await readChannel(context, { channel_id }, inviter);
    const active = await requireActive(context.directory, [invitee_aid]);
    const invitee = { aid: invitee_aid, channel_id, since: active.get(invitee_aid) ?? new Date(0) };
    const answer = { invited: true, channel_id, invitee_aid };
    return context.database.transaction(call, async (tx) => {
      const { is_member, is_needless } = await lockMembers(tx, { ...lifeOf(inviter), channel_id }, invitee);
      const refused = refuseInviting({ ...channel, is_member });
      if (refused !== undefined) throw new AppError(refused);
      if (is_needless) return answer;
      const { count } = await tx.channelInvitation.createMany({ data: [invitee], skipDuplicates: true });
      if (count === 0) return answer;
      const [payload, audience] = [channelPayload(channel, invitee_aid), [`agent:${invitee_aid}`]];
      await events.emit(tx, { type: 'channel.invited', audience, actor: inviter.aid, payload });
      const content = `${noticeName(inviter.name)} invited you to the channel ${channel.name}`;
      const notice = { id: newId(), to_aid: invitee_aid, content, metadata: { channel_id } };
      await deliver(tx, notice, context.clock.now());
      return answer;
    });
  },
);

/** Neither of the two leaves before the transaction has ended. */
async function lockMembers(tx: Transaction<PrismaClient>, inviter: ChannelMember, invitee: ChannelMember) {
  const members = await tx.$queryRaw<Pick<ChannelMember, 'aid'>[]>`
    SELECT aid FROM channel_member WHERE channel_id = ${inviter.channel_id}::uuid
      AND (aid, since) IN ((${inviter.aid}, ${inviter.since}::timestamptz), (${invitee.aid}, ${invitee.since}::timestamptz))
    ORDER BY aid FOR KEY SHARE`;
  const isMember = ({ aid }: ChannelMember) => members.some((member) => member.aid === aid);
  return { is_member: isMember(inviter), is_needless: isMember(invitee) };
}
