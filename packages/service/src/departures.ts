import { type Consumer, payloadOf } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import type { Database } from '@acsp/database';
import type { Clock } from '@acsp/time';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Job } from './definition.js';

/** A life of an agent that ended. */
export interface Departed {
  readonly aid: string;
  readonly registered_at: Date;
}

interface Surroundings {
  readonly database: Pick<Database<unknown>, 'pool'>;
  readonly clock: Clock;
}

export interface Departures<Context> {
  onDeleted(context: Context, event: Event): Promise<void>;
  sweep(context: Context, signal?: AbortSignal): Promise<void>;
  consumer(context: Context): Consumer;
  job(context: Context): Job;
}

/** A principal is good for a minute and ten seconds, and a statement ends within eight: after that nothing of a former life can commit. */
const inFlightMs = 80_000;

const insert = `INSERT INTO departure (aid, registered_at, deleted_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`;
const select = 'SELECT aid, registered_at, deleted_at FROM departure ORDER BY deleted_at';
const remove = 'DELETE FROM departure WHERE aid = $1 AND registered_at = $2';

/**
 * Carries out deletions of agents, by the table `departure` of the service. `clearAway` ends what one life of an agent left, and may come again: it is
 * called when the deletion arrives, however late, and then until no request that was in flight can leave anything more.
 */
export function createDepartures<Context extends Surroundings>(
  service: string,
  clearAway: (context: Context, departed: Departed) => Promise<void>,
): Departures<Context> {
  async function onDeleted(context: Context, event: Event): Promise<void> {
    const { aid, registered_at } = payloadOf(AgentEventSchema, event);
    const departed = { aid, registered_at: registered_at ?? new Date(0) };
    const deleted_at = event.occurredAt === undefined ? context.clock.now() : timestampDate(event.occurredAt);
    await context.database.pool.query(insert, [aid, departed.registered_at, deleted_at]);
    await clearAway(context, departed);
  }

  async function sweep(context: Context, signal?: AbortSignal): Promise<void> {
    const { pool } = context.database;
    const over = new Date(context.clock.now().getTime() - inFlightMs);
    const { rows } = await pool.query<Departed & { readonly deleted_at: Date }>(select);
    const failures: unknown[] = [];
    for (const { aid, registered_at, deleted_at } of rows) {
      if (signal?.aborted) return;
      try {
        await clearAway(context, { aid, registered_at });
        if (deleted_at <= over) await pool.query(remove, [aid, registered_at]);
      } catch (error) {
        // A row of one agent that is locked must not keep the others waiting.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    onDeleted,
    sweep,
    consumer: (context) => ({
      name: `${service}-agent-deleted`,
      subjects: ['acsp.identity.agent.deleted'],
      start: 'now',
      order: 'parallel',
      handle: (event) => onDeleted(context, event),
    }),
    job: (context) => ({ name: 'departures', everyMs: 5_000, run: (signal) => sweep(context, signal) }),
  };
}
