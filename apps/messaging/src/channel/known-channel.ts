import type { BatchStatement } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { type Life, lifeOf, type Principal } from '@acsp/operation';
import type { Context } from '../context.js';
import type { Channel } from '../generated/prisma/client.js';
import type { Standing } from './rules.js';

/** The part of a channel that is shown. */
export type ShownChannel = Omit<Channel, 'departures' | 'last_position' | 'last_at'>;

/** A channel as it was read, and what the caller is in it. */
export type KnownChannel = ShownChannel & Pick<Channel, 'departures'> & Standing;

/** The id counts where both are given. */
export interface ChannelRef {
  readonly channel_id?: string | null | undefined;
  readonly channel_name?: string | null | undefined;
}

/** Throws CHANNEL_NOT_FOUND where there is none. */
export async function readChannel(context: Context, ref: ChannelRef, caller: Principal): Promise<KnownChannel> {
  const found = await findChannel(context, ref, lifeOf(caller));
  if (found === undefined) throw new AppError('CHANNEL_NOT_FOUND');
  return found;
}

/** Undefined where there is none. */
export async function findChannel(
  { database }: Context,
  { channel_id = null, channel_name = null }: ChannelRef,
  life: Life,
): Promise<KnownChannel | undefined> {
  const key = [channel_id, channel_name, life.aid, life.since.getTime()].join(' ');
  const found = await database.batch(channels, { key, channel_id, channel_name, ...life });
  return found && { ...found, aid: life.aid };
}

interface Question {
  readonly key: string;
  readonly channel_id: string | null;
  readonly channel_name: string | null;
  readonly aid: string;
  readonly since: Date;
}

/** Those that are shown, by name: a prepared statement with a star fails for good once a migration adds a column. */
export const channelColumns =
  'channel.channel_id, name, channel_type, description, is_public, members, created_by, channel.created_at';

const ofLife = (table: string) => `EXISTS (
  SELECT FROM ${table} AS own WHERE own.aid = input.aid AND own.since = input.since AND own.channel_id = channel.channel_id)`;

/** A look-up by key, batched with other reads of the same moment. */
const channels: BatchStatement<Question, Omit<KnownChannel, 'aid'>> = {
  name: 'read channel',
  columns: { key: 'text', channel_id: 'uuid', channel_name: 'text', aid: 'text', since: 'timestamptz' },
  key: ({ key }) => key,
  readOnly: true,
  text: `
    SELECT input.key, ${channelColumns}, departures,
      ${ofLife('channel_member')} AS is_member, ${ofLife('channel_invitation')} AS is_invited
    FROM input JOIN channel
    ON channel.channel_id = coalesce(input.channel_id, (SELECT channel_id FROM channel AS named WHERE named.name = input.channel_name))`,
};
