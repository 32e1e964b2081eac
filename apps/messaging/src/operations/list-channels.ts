import { ListChannelsRequestSchema } from '@acsp/contracts/messaging/v1/channels';
import { aid, byAnyone, fieldsOf, lifeOf } from '@acsp/operation';
import { channelColumns, type ShownChannel } from '../channel/known-channel.js';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';

/** Public channels, and the private ones of which the caller is proven to be a member. */
export const listChannels = byAnyone(
  fieldsOf(ListChannelsRequestSchema)({ aid: aid().optional() }),
  async ({ database }: Context, { aid: named }, caller) => {
    const about = named ?? caller.aid;
    const since = about === caller.aid ? lifeOf(caller).since : undefined;
    const rows = await database.read(`channels of ${about}`, (ask) => ask<Row>(listQuery(about ?? '', since)));
    return { channels: about === undefined ? rows.map((row) => ({ ...row, is_member: null })) : rows };
  },
);

type Row = ShownChannel & { readonly is_member: boolean };

/** The channel that always exists has this id by the migration. */
const globalId = '00000000-0000-7000-8000-676c6f62616c';

const maxChannels = 200;

/**
 * `global`, the agent's own channels, and the largest public ones, each found by an index. A life that is proven sees its private ones; an AID that
 * was only named has any life.
 */
function listQuery(agent: string, since: Date | undefined): Prisma.Sql {
  const some = Prisma.sql`LIMIT ${maxChannels}::int`;
  const ofLife = since === undefined ? Prisma.empty : Prisma.sql`AND member.since = ${since}::timestamptz`;
  const shown = since === undefined ? Prisma.sql`AND is_public` : Prisma.empty;
  return Prisma.sql`
    SELECT ${Prisma.raw(channelColumns)}, EXISTS (
      SELECT FROM channel_member AS member WHERE aid = ${agent} AND member.channel_id = channel.channel_id ${ofLife}
    ) AS is_member
    FROM channel WHERE channel_id IN (
      SELECT ${globalId}::uuid
      UNION (
        SELECT channel_id FROM channel_member AS member JOIN channel USING (channel_id) WHERE aid = ${agent} ${ofLife} ${shown}
        ORDER BY channel_id DESC ${some}
      )
      UNION (SELECT channel_id FROM channel WHERE is_public ORDER BY members DESC, channel_id ${some})
    )
    ORDER BY channel_id = ${globalId}::uuid DESC, is_member DESC, members DESC, channel_id ${some}`;
}
