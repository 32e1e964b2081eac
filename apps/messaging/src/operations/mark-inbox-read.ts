import { MarkInboxReadRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { byAgent, callerAid, fieldsOf, uuid } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { events } from '../events.js';
import type { Mailbox } from '../generated/prisma/client.js';

/** Marks items of the caller's inbox as read: some of them, or all that are there. Ids of others' items and of read ones change nothing. */
export const markInboxRead = byAgent(
  fieldsOf(MarkInboxReadRequestSchema)({
    aid: callerAid,
    message_ids: z.array(uuid('INVALID_FIELD'), 'INVALID_FIELD').max(100, 'INVALID_FIELD').default([]),
    all: z.boolean('INVALID_FIELD').default(false),
  }).refine(({ message_ids, all }) => all || message_ids.length > 0, 'MISSING_FIELDS'),
  ({ database }: Context, { message_ids, all }, { aid }, call) =>
    database.transaction(call, async (tx) => {
      const [box] = await tx.$queryRaw<Mailbox[]>`SELECT * FROM mailbox WHERE aid = ${aid} FOR NO KEY UPDATE`;
      if (box === undefined) return { updated: 0, unread_count: 0 };
      const updated = all
        ? box.unread
        : await tx.$executeRaw`UPDATE message SET read = true WHERE id = ANY (${message_ids}::uuid[]) AND to_aid = ${aid}
            AND NOT read AND created_at > ${box.read_to}::timestamptz`;
      const unread_count = box.unread - updated;
      if (updated === 0) return { updated, unread_count };
      await tx.mailbox.update({ where: { aid }, data: { unread: unread_count, ...(all && readUpTo(box)) } });
      const payload = { aid, updated, unread_count };
      await events.emit(tx, { type: 'mailbox.read', audience: [], actor: aid, payload });
      return { updated, unread_count };
    }),
);

/** An item may have the time of the latest one, where clocks of replicas differ or two come in a millisecond: what comes now is later than what is read. */
const readUpTo = ({ last_at }: Mailbox) => ({ read_to: last_at, last_at: new Date(last_at.getTime() + 1) });
