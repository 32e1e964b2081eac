import { FindChannelsRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { aid, byAnyone, fieldsOf, type Life, time } from '@acsp/operation';
import { z } from 'zod';
import { isChannelName } from '../channel/fields.js';
import { findChannel, type ShownChannel } from '../channel/known-channel.js';
import { refuseReading } from '../channel/rules.js';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';

/** For services: the channels among these that this life of an agent may read, or all of which it is a member. */
export const findChannels = byAnyone(
  fieldsOf(FindChannelsRequestSchema)({
    aid: aid(),
    registered_at: time({ code: 'INVALID_FIELD' }),
    names: z.array(z.string('INVALID_FIELD'), 'INVALID_FIELD').max(50, 'INVALID_FIELD').default([]),
  }),
  async (context: Context, { aid, registered_at, names }) => {
    const life = { aid, since: registered_at };
    return { channels: await (names.length > 0 ? readable(context, names, life) : joined(context, life)) };
  },
);

/** A name that no channel can have is one that is not found. */
async function readable(context: Context, names: readonly string[], life: Life) {
  const possible = [...new Set(names)].filter(isChannelName);
  const found = await Promise.all(possible.map((channel_name) => findChannel(context, { channel_name }, life)));
  return found.filter((channel) => channel !== undefined).filter((channel) => refuseReading(channel) === undefined);
}

type Joined = Pick<ShownChannel, 'channel_id' | 'name' | 'is_public'> & { readonly is_member: true };

const maxJoined = 100;

const joined = ({ database }: Context, { aid, since }: Life) =>
  database.query<Joined>(Prisma.sql`
    SELECT channel_id, name, is_public, true AS is_member FROM channel_member JOIN channel USING (channel_id)
    WHERE aid = ${aid} AND since = ${since}::timestamptz ORDER BY channel_id DESC LIMIT ${maxJoined}::int`);
