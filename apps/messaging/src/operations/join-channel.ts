import { JoinChannelRequestSchema } from '@acsp/contracts/messaging/v1/channels';
import { answerRow, untilWritten } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { type Agent, byAgent, type Call, callerAid, fieldsOf, lifeOf } from '@acsp/operation';
import { channelPayload } from '../channel/channel-event.js';
import { channelId, channelName } from '../channel/fields.js';
import { type ChannelRef, readChannel } from '../channel/known-channel.js';
import { joinChannels, membershipKey } from '../channel/membership.js';
import { refuseJoining } from '../channel/rules.js';
import type { Context } from '../context.js';
import { events } from '../events.js';

/** Makes the caller a member; a member stays one. */
export const joinChannel = byAgent(
  fieldsOf(JoinChannelRequestSchema)({
    aid: callerAid,
    channel_id: channelId.optional(),
    channel_name: channelName.optional(),
  }).refine(({ channel_id, channel_name }) => (channel_id ?? channel_name) !== undefined, 'MISSING_FIELDS'),
  (context: Context, input, agent, call) => untilWritten(() => attemptJoin(context, input, agent, call), { call }),
);

/** Answers undefined where another request of the agent was faster. */
async function attemptJoin(context: Context, ref: ChannelRef, agent: Agent, call: Call) {
  const channel = await readChannel(context, ref, agent);
  const refused = refuseJoining(channel);
  if (refused !== undefined) throw new AppError(refused);
  if (channel.is_member) return { joined: true, channel };
  const { channel_id, members } = channel;
  const answer = { joined: true, channel: { ...channel, members: members + 1, is_member: true } };
  const member = { ...lifeOf(agent), channel_id };
  const payload = channelPayload(channel, agent.aid);
  const joined = { type: 'channel.joined', audience: [`channel:${channel_id}`], actor: agent.aid, payload } as const;
  const row = {
    key: membershipKey(member),
    ...member,
    ...events.row(joined, context.clock.now()),
    ...answerRow(call.once, answer),
  };
  const written = await context.database.batch(joinChannels, row, call);
  return written && answer;
}
