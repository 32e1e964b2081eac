import { CreateChannelRequestSchema } from '@acsp/contracts/messaging/v1/channels';
import { newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { byAgent, callerAid, fieldsOf, lifeOf, oneOf, text } from '@acsp/operation';
import { z } from 'zod';
import { channelPayload } from '../channel/channel-event.js';
import { channelName } from '../channel/fields.js';
import type { Context } from '../context.js';
import { events } from '../events.js';

/** A new channel, of which its creator is the first member. */
export const createChannel = byAgent(
  fieldsOf(CreateChannelRequestSchema)({
    aid: callerAid,
    name: channelName,
    channel_type: oneOf(['general', 'announce', 'market', 'support']).default('general'),
    description: text({ max: 500 }).optional(),
    is_public: z.boolean('INVALID_FIELD').default(true),
  }),
  ({ database, clock }: Context, { aid: _aid, description = null, ...input }, creator, call) =>
    database.transaction(call, async (tx) => {
      const [channel_id, life] = [newId(), lifeOf(creator)];
      const row = { ...input, channel_id, description, members: 1, created_by: creator.aid, created_at: clock.now() };
      // The second of two that take one name at once waits here for the first.
      const { count } = await tx.channel.createMany({ data: [row], skipDuplicates: true });
      if (count === 0) throw new AppError('CHANNEL_EXISTS');
      await tx.channelMember.create({ data: { ...life, channel_id } });
      const payload = channelPayload(row, creator.aid);
      await events.emit(tx, {
        type: 'channel.created',
        audience: [`agent:${creator.aid}`],
        actor: creator.aid,
        payload,
      });
      return { channel: { ...row, is_member: true } };
    }),
);
