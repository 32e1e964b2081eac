import { ProvePathRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { events } from '../events.js';

/** A heartbeat for caches of what identity knows: it takes the way of every change, so a cache that sees it has seen what was committed before. */
export const provePath = byAnyone(
  fieldsOf(ProvePathRequestSchema)({ nonce: z.string('INVALID_FIELD').min(1).max(64) }),
  ({ database }: Context, { nonce }, _caller, call) =>
    database.transaction(call, async (tx) => {
      await events.emit(tx, { type: 'path.proven', audience: [], actor: null, payload: { nonce } });
      return {};
    }),
);
