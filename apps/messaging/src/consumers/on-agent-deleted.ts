import { payloadOf } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { channelPayload } from '../channel/channel-event.js';
import { leaveChannels, membershipKey } from '../channel/membership.js';
import type { Context } from '../context.js';
import { events } from '../events.js';
import type { Channel, ChannelMember } from '../generated/prisma/client.js';

/** A principal is good for a minute and ten seconds, and a statement ends within eight: after that nothing of a former life can commit. */
const inFlightMs = 80_000;

/** A life of an agent that ended. */
interface Departed {
  readonly aid: string;
  readonly registered_at: Date;
}

/** An agent is gone: its memberships end, and invitations of it are void. It concerns that life of the agent alone, however late the event comes. */
export async function onAgentDeleted(context: Context, event: Event): Promise<void> {
  const { aid, registered_at } = payloadOf(AgentEventSchema, event);
  const departed = { aid, registered_at: registered_at ?? new Date(0) };
  const deleted_at = event.occurredAt === undefined ? context.clock.now() : timestampDate(event.occurredAt);
  await context.database.prisma.departure.createMany({ data: [{ ...departed, deleted_at }], skipDuplicates: true });
  await clearAway(context, departed);
}

/** Clears away again what requests that were in flight have left behind the deletion, until none can be. */
export async function sweepDepartures(context: Context, signal?: AbortSignal): Promise<void> {
  const { departure } = context.database.prisma;
  const over = new Date(context.clock.now().getTime() - inFlightMs);
  for (const { aid, registered_at, deleted_at } of await departure.findMany({ orderBy: { deleted_at: 'asc' } })) {
    if (signal?.aborted) return;
    await clearAway(context, { aid, registered_at });
    if (deleted_at <= over) await departure.deleteMany({ where: { aid, registered_at } });
  }
}

const pageSize = 200;

async function clearAway(context: Context, { aid, registered_at }: Departed): Promise<void> {
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
  const [member, payload] = [{ aid, channel_id, since }, channelPayload({ channel_id, ...channel }, aid)];
  const left = { type: 'channel.left', audience: [`channel:${channel_id}`], actor: null, payload } as const;
  return { key: membershipKey(member), ...member, ...events.row(left, at) };
}
