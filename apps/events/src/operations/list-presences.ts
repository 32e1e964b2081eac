import { ListPresencesRequestSchema } from '@acsp/contracts/events/v1/presence';
import { byAgent, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { presentPresence } from '../presence/present.js';

const maxAids = 50;
const pattern = '^[0-9a-f]{50}(,[0-9a-f]{50})*$';

const aids = z
  .string('INVALID_AID')
  .regex(new RegExp(pattern), 'INVALID_AID')
  .refine((value) => value.split(',').length <= maxAids, {
    error: 'INVALID_FIELD',
    params: { detail: `at most ${maxAids}` },
  });

/** The presence of several agents, one for each AID as they were given. */
export const listPresences = byAgent(
  fieldsOf(ListPresencesRequestSchema)({ aids }),
  async (context: Context, { aids: text }) => {
    const aids = text.split(',');
    const registered = await context.directory(aids);
    return { presences: await Promise.all(aids.map((aid) => presentPresence(context, aid, registered.get(aid)))) };
  },
);
