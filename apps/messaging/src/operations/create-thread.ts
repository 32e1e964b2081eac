import { CreateThreadRequestSchema } from '@acsp/contracts/messaging/v1/threads';
import { newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { aid, byAgent, fieldsOf } from '@acsp/operation';
import { requireActive } from '@acsp/service';
import { z } from 'zod';
import type { Context } from '../context.js';
import { events } from '../events.js';
import { threadEvent } from '../thread/change-thread.js';
import { offer } from '../thread/fields.js';
import { presentThread } from '../thread/present.js';

const hourMs = 3_600_000;

/** Opens a negotiation with another agent. The initial offer is the caller's, and no message of the thread. */
export const createThread = byAgent(
  fieldsOf(CreateThreadRequestSchema)({
    initiator_aid: aid(),
    responder_aid: aid(),
    initial_offer: offer,
    ttl_hours: z.number('INVALID_FIELD').gt(0, 'INVALID_FIELD').max(8760, 'INVALID_FIELD').default(72),
  }),
  async ({ database, clock, directory }: Context, input, { aid: initiator_aid }, call) => {
    const { responder_aid, ttl_hours } = input;
    // The offer is a message to the responder, and threads have no code of their own for oneself.
    if (responder_aid === initiator_aid) throw new AppError('SELF_MESSAGE');
    await requireActive(directory, [responder_aid]);
    return database.transaction(call, async (tx) => {
      const created_at = clock.now();
      // Columns hold milliseconds, and a thread lives for one at least.
      const expires_at = new Date(created_at.getTime() + Math.max(1, Math.round(ttl_hours * hourMs)));
      const times = { created_at, updated_at: created_at, expires_at };
      const thread = await tx.thread.create({ data: { id: newId(), ...input, ...times } });
      await events.emit(tx, threadEvent({ type: 'thread.created', thread, actor: initiator_aid }));
      return presentThread(thread, created_at);
    });
  },
);
