import { CreateEventTokenRequestSchema } from '@acsp/contracts/events/v1/events';
import { newId } from '@acsp/database';
import { byAgent, callerAid, fieldsOf, lifeOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { tokenSeconds } from '../token/tokens.js';

export const createEventToken = byAgent(
  fieldsOf(CreateEventTokenRequestSchema)({ aid: callerAid }),
  async ({ tokens, clock }: Context, _input, caller) => {
    // A JWT has whole seconds.
    const expires_at = new Date((Math.floor(clock.now().getTime() / 1_000) + tokenSeconds) * 1_000);
    const token = await tokens.sign({ token_id: newId(), ...lifeOf(caller), expires_at });
    return { token, expires_at };
  },
);
