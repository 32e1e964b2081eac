import { SweepPresenceRequestSchema } from '@acsp/contracts/events/v1/presence';
import { byAnyone, fieldsOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { sweep } from '../presence/sweep.js';

/** The sweep that the service also does by itself. */
export const sweepPresence = byAnyone(
  fieldsOf(SweepPresenceRequestSchema)({}),
  async (context: Context, _input, _caller, { signal }) => ({ swept: await sweep(context, signal) }),
);
