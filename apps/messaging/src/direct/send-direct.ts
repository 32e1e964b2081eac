import { newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Agent, Call } from '@acsp/operation';
import { requireActive } from '@acsp/service';
import type { Context } from '../context.js';
import { events } from '../events.js';
import type { Message } from '../generated/prisma/client.js';
import { type Letter, plain, send } from './send.js';

/** One message of an agent to each of these, and its event. */
export interface Direct<Answer> {
  readonly sender: Agent;
  readonly to: readonly string[];
  readonly message: Pick<Message, 'content' | 'msg_type'> & Partial<Letter>;
  /** The ids are those of the messages, in the order of `to`. */
  readonly answer: (ids: readonly string[], at: Date) => Answer;
}

/** Throws SELF_MESSAGE, and TARGET_NOT_FOUND unless every recipient is active; then nothing is sent. */
export async function sendDirect<Answer extends object>(context: Context, direct: Direct<Answer>, call: Call) {
  const { sender, to, message, answer } = direct;
  if (to.includes(sender.aid)) throw new AppError('SELF_MESSAGE');
  await requireActive(context.recipients, to);
  const letters = to.map((to_aid): Letter => ({ ...plain, ...message, id: newId(), to_aid }));
  const ids = letters.map(({ id }) => id);
  return send(
    context,
    {
      from_aid: sender.aid,
      from_name: sender.name,
      letters,
      event: (letter, at) => messageEvent(letter, sender, at),
      answer: (at) => answer(ids, at),
    },
    call,
  );
}

function messageEvent(letter: Letter, { aid, name }: Agent, at: Date) {
  const { id: message_id, to_aid, content, msg_type, thread_id, metadata } = letter;
  const payload = { message_id, from_aid: aid, from_name: name, to_aid, content, msg_type, thread_id };
  return events.row(
    {
      type: 'message.sent',
      audience: [`agent:${to_aid}`],
      actor: aid,
      payload: { ...payload, metadata: metadata as Record<string, never> },
    },
    at,
  );
}
