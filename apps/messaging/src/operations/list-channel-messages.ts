import { ListChannelMessagesRequestSchema } from '@acsp/contracts/messaging/v1/channels';
import { AppError } from '@acsp/errors';
import { byAnyone, fieldsOf, queryInteger, uuid } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import { channelName } from '../channel/fields.js';
import { readChannel } from '../channel/known-channel.js';
import { refuseReading } from '../channel/rules.js';
import type { Context } from '../context.js';

/** The messages of a channel, newest first. A page has 3 MiB at most, because a message has 4096 characters and 4096 bytes of metadata. */
export const listChannelMessages = byAnyone(
  fieldsOf(ListChannelMessagesRequestSchema)({
    channel_name: channelName,
    limit: queryInteger(1, 100).default(50),
    before: uuid('INVALID_FIELD').optional(),
  }),
  async (context: Context, { channel_name, limit, before }, caller) => {
    const channel = await readChannel(context, { channel_name }, caller);
    const refused = refuseReading(channel);
    if (refused !== undefined) throw new AppError(refused);
    const { channel_id } = channel;
    const end = before == null ? undefined : await positionOf(context, channel_id, before);
    const rows = await context.database.prisma.channelMessage.findMany({
      where: { channel_id, ...(end !== undefined && { position: { lt: end } }) },
      orderBy: { position: 'desc' },
      take: limit + 1,
    });
    const messages = rows.slice(0, limit).map((row) => ({
      ...row,
      channel_name,
      metadata: row.metadata as JsonObject,
    }));
    return { messages, has_more: rows.length > limit };
  },
);

async function positionOf({ database }: Context, channel_id: string, id: string): Promise<bigint> {
  const where = { id, channel_id };
  const found = await database.prisma.channelMessage.findFirst({ where, select: { position: true } });
  if (found !== null) return found.position;
  const fields = [{ field: 'before', message: 'must be the id of a message of this channel' }];
  throw new AppError('INVALID_FIELD', { detail: 'before is no message of this channel', fields });
}
