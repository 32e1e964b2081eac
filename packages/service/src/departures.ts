import { type Consumer, payloadOf } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import type { Database } from '@acsp/database';
import type { Clock } from '@acsp/time';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Background } from './definition.js';

/** A life of an agent that ended. */
export interface Departed {
  readonly aid: string;
  readonly registered_at: Date;
}

interface Surroundings {
  readonly database: Pick<Database<unknown>, 'pool'>;
  readonly clock: Clock;
  /** Ends what a life of an agent left, and may come again. */
  readonly clearAway: (departed: Departed) => Promise<void>;
}

/** Deletions of agents, as a service carries them out. */
export interface Departures {
  onDeleted(event: Event): Promise<void>;
  /** Clears away again what a request in flight may have left. */
  sweep(signal?: AbortSignal): Promise<void>;
  readonly background: Background;
}

/** A principal is good for a minute and ten seconds, and a statement ends within eight: after that nothing of a former life can commit. */
const inFlightMs = 80_000;

const insert = `INSERT INTO bus.departure (aid, registered_at, deleted_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`;
const select = 'SELECT aid, registered_at, deleted_at FROM bus.departure ORDER BY deleted_at';
const remove = 'DELETE FROM bus.departure WHERE aid = $1 AND registered_at = $2';

/** A life is cleared away when its deletion arrives, however late, and then until no request that was in flight can leave anything more of it. */
export function createDepartures(service: string, { database, clock, clearAway }: Surroundings): Departures {
  const { pool } = database;

  async function onDeleted(event: Event): Promise<void> {
    const { aid, registered_at } = payloadOf(AgentEventSchema, event);
    const departed = { aid, registered_at: registered_at ?? new Date(0) };
    const deleted_at = event.occurredAt === undefined ? clock.now() : timestampDate(event.occurredAt);
    await pool.query(insert, [aid, departed.registered_at, deleted_at]);
    await clearAway(departed);
  }

  async function sweep(signal?: AbortSignal): Promise<void> {
    const over = new Date(clock.now().getTime() - inFlightMs);
    const { rows } = await pool.query<Departed & { readonly deleted_at: Date }>(select);
    const failures: unknown[] = [];
    for (const { aid, registered_at, deleted_at } of rows) {
      if (signal?.aborted) return;
      try {
        await clearAway({ aid, registered_at });
        if (deleted_at <= over) await pool.query(remove, [aid, registered_at]);
      } catch (error) {
        // A row of one agent that is locked must not keep the others waiting.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  const consumer: Consumer = {
    name: `${service}-agent-deleted`,
    subjects: ['acsp.identity.agent.deleted'],
    start: 'now',
    order: 'parallel',
    handle: onDeleted,
  };
  return {
    onDeleted,
    sweep,
    background: { consumers: [consumer], jobs: [{ name: 'departures', everyMs: 5_000, run: sweep }] },
  };
}
