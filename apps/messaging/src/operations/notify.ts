import { NotifyRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { newId } from '@acsp/database';
import { aid, byAnyone, fieldsOf, metadata, oneOf, text } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { longContent } from '../direct/fields.js';
import { noticeEvent } from '../direct/notice-event.js';
import { type Letter, plain, send } from '../direct/send.js';
import { events } from '../events.js';
import { MessageType } from '../generated/prisma/enums.js';

/** For services: puts a notice into an agent's inbox. A second one with the same key and recipient is the first one. */
export const notify = byAnyone(
  fieldsOf(NotifyRequestSchema)({
    key: text({ max: 255 }),
    to_aid: aid(),
    from_aid: aid().optional(),
    from_name: text({ max: 100 }),
    msg_type: oneOf(Object.values(MessageType) as [MessageType, ...MessageType[]]),
    content: longContent,
    metadata: metadata().default({}),
    match_score: z.number('INVALID_FIELD').min(0, 'INVALID_FIELD').max(1, 'INVALID_FIELD').optional(),
  }),
  async (context: Context, { key, from_aid = null, from_name, match_score = null, ...notice }, _caller, call) => {
    const known = await findNotice(context, notice.to_aid, key);
    if (known !== null) return known;
    const letter: Letter = { ...plain, ...notice, id: newId(), notice_key: key, match_score };
    const event = (_letter: Letter, at: Date) => events.row(noticeEvent({ ...letter, from_aid, from_name }), at);
    const sending = { from_aid, from_name, letters: [letter], event, answer: () => ({ message_id: letter.id }) };
    try {
      return await send(context, sending, call);
    } catch (error) {
      // Another call with the same key was faster.
      const first = await findNotice(context, notice.to_aid, key);
      if (first === null) throw error;
      return first;
    }
  },
);

async function findNotice({ database }: Context, to_aid: string, notice_key: string) {
  const found = await database.prisma.message.findFirst({ where: { to_aid, notice_key }, select: { id: true } });
  return found && { message_id: found.id };
}
