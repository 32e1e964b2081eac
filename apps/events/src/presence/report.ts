import { newId } from '@acsp/database';
import { toAppError } from '@acsp/errors';
import { type Agent, lifeOf } from '@acsp/operation';
import { counter } from '@acsp/telemetry';
import { within } from '@acsp/time';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Context } from '../context.js';
import { presenceFeed } from '../feed/names.js';
import { announce } from './announce.js';
import { memberOf, readSeen, type SeenRecord, writeSeen } from './records.js';
import { goodForSeconds, type Status, signalSeconds } from './rules.js';

interface Report {
  readonly status: Status;
  /** Undefined leaves it as it was. */
  readonly metadata: JsonObject | undefined;
  /** Shows watchers that the agent is alive, although nothing changed. */
  readonly signal: boolean;
}

/** The name of the schedule on which agents are due when their latest heartbeat is good no longer. */
export const schedule = 'stale';

const failed = counter('acsp_presence_unannounced_total', 'Reports of agents whose watchers were not informed in time');
const announceMs = 500;

/**
 * An agent says how it is. The schedule is first, so that a crash between any two of the writes heals: the sweep finds the agent, and announces what was
 * written and not announced, as the next heartbeat does. Watchers that are not informed in time are no reason to refuse it.
 */
export async function report(
  context: Context,
  caller: Agent,
  { status, metadata, signal }: Report,
): Promise<SeenRecord> {
  const life = lifeOf(caller);
  const before = metadata === undefined ? await readSeen(context, life) : undefined;
  // Clocks differ: the sweep must find it stale by its own clock too.
  await context.store.schedule(schedule, memberOf(life), status === 'offline' ? 0 : goodForSeconds + 1);
  const seen = { status, last_seen: context.clock.now(), metadata: metadata ?? before?.metadata ?? {} };
  await writeSeen(context, life, seen);
  const informed = Promise.all([
    announce(context, [life]),
    signal && status !== 'offline' && showSignal(context, caller, seen),
  ]);
  await within(announceMs, 'Informing the watchers', informed).catch((error) => {
    failed.inc();
    if (toAppError(error).code !== 'SERVICE_UNAVAILABLE')
      context.log.error({ err: error, aid: life.aid }, 'a presence is not announced');
  });
  return seen;
}

/** Shows one of several heartbeats that come at once, in any replica. */
async function showSignal({ store, bus }: Context, { aid }: Agent, { status, last_seen }: SeenRecord): Promise<void> {
  if (!(await store.add(`signal ${aid}`, '', signalSeconds))) return;
  const data = JSON.stringify({ aid, status, ts: last_seen });
  await bus.feed.publishEphemeral({
    feed: presenceFeed(aid),
    id: newId(),
    event: 'hb_signal',
    data,
    created_at: last_seen,
  });
}
