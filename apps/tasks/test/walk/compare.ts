import { catalogue } from '@acsp/errors';
import { includes, statusAt, terminal } from '../../src/task/state.js';
import { stepsOf } from '../steps.js';
import { isLive, liveClaims, type ModelTask } from './model.js';
import type { Taken, World } from './world.js';

/** A row of the outbox or of the log. */
interface Trace {
  readonly position: number;
  readonly task: string;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly actor: string | null;
}

/** What the tables hold of a world's tasks; of events and log only what came after a mark. */
interface Tables {
  readonly tasks: readonly { readonly id: string; readonly status: string; readonly accepted: number }[];
  readonly events: readonly Trace[];
  readonly log: readonly Trace[];
}

/** How far outbox and log were read. */
export interface Mark {
  readonly event: number;
  readonly log: number;
}

/** In one round trip, because a walk does it after each step. An event without its message is not found. */
export async function readTables({ tasks, made }: World, since: Mark): Promise<Tables> {
  const found = await tasks.context.database.pool.query<Tables>(tables, [
    made.map(({ id }) => id),
    since.event,
    since.log,
  ]);
  return found.rows[0] as Tables;
}

const tables = `
  WITH rows AS (
    SELECT id, status, assigned_aid, claims_count, subtasks_count,
      (SELECT count(*) FROM claim WHERE task_id = task.id AND status IN ('pending', 'accepted')) AS live,
      (SELECT count(*) FROM claim WHERE task_id = task.id AND status = 'accepted') AS accepted,
      (SELECT count(*) FROM message WHERE task_id = task.id) AS messages
    FROM task WHERE id = ANY ($1::uuid[])
  ), events AS (
    SELECT position, task_id AS task, type AS event, payload->>'previous_status' AS from, payload->>'status' AS to, actor
    FROM bus.outbox JOIN message ON task_id = (payload->>'task_id')::uuid AND message.id = (payload->>'message_id')::uuid
    WHERE position > $2 AND task_id = ANY ($1::uuid[])
  ), entries AS (
    SELECT position, task_id AS task, event, from_status AS from, to_status AS to, actor_aid AS actor
    FROM log_entry WHERE position > $3 AND task_id = ANY ($1::uuid[])
  )
  SELECT (SELECT json_agg(rows ORDER BY id) FROM rows) AS tasks,
    (SELECT coalesce(json_agg(events ORDER BY position), '[]') FROM events) AS events,
    (SELECT coalesce(json_agg(entries ORDER BY position), '[]') FROM entries) AS log`;

/** The answer is the model's, and so is what everybody sees of the task afterwards. */
export async function compareAnswer({ tasks, clock }: World, { answer, outcome, task }: Taken): Promise<void> {
  if (answer !== undefined && 'refused' in outcome) {
    expect([answer.status, answer.body.code]).toEqual([catalogue[outcome.refused].http, outcome.refused]);
  } else if (answer !== undefined) {
    expect([200, 201]).toContain(answer.status);
  }
  if (task === undefined) return;
  const status = statusAt(task, clock.now());
  const expired = status === 'expired';
  const { body } = await stepsOf(tasks).details(task.creator, task.id);
  expect(body.task).toMatchObject({
    ...{ status, assigned_aid: task.assigned?.aid ?? null, subtasks_count: task.subtasks_count },
    ...{ claims_count: expired ? 0 : liveClaims(task).length, expires_at: task.expires_at.toISOString() },
  });
  const claims = task.claims.map((held) => [held.id, expired && isLive(held) ? 'rejected' : held.status]);
  expect(body.claims.map(({ id, status: shown }: { id: string; status: string }) => [id, shown]).sort()).toEqual(
    claims.sort(),
  );
  expect(body.messages).toHaveLength(task.messages);
}

/**
 * Since the mark the step left one event for each change and none for anything else, and likewise log entries.
 * Gives the mark for the next step.
 */
export function compareTraces({ events, log }: Tables, { outcome }: Taken, since: Mark): Mark {
  const changes = 'changes' in outcome ? outcome.changes : [];
  const expected = changes.map(({ task, event, from, to, actor }) => {
    return { task: task.id, event, from: from ?? null, to, actor: actor?.aid ?? null };
  });
  const logged = expected.filter(({ event }) => event !== 'task.message_posted');
  expect(inOrder(events)).toEqual(inOrder(expected));
  expect(inOrder(log)).toEqual(inOrder(logged));
  return { event: events.at(-1)?.position ?? since.event, log: log.at(-1)?.position ?? since.log };
}

/** Of a sweep that ends several tasks, the order does not matter. */
const inOrder = (traces: readonly (Omit<Trace, 'position'> & { position?: number })[]) =>
  traces.map(({ position: _position, ...rest }) => rest).sort((a, b) => a.task.localeCompare(b.task));

/** Every row is as the model has it: one assignee at most, true counts, and nothing leaves a terminal status. */
export function compareRows({ tasks }: Tables, { made }: World, ended: Map<string, string>): void {
  expect(tasks).toEqual([...made].sort((a, b) => a.id.localeCompare(b.id)).map(toRow));
  for (const { id, status, accepted } of tasks) {
    expect(accepted).toBeLessThanOrEqual(1);
    expect(ended.get(id) ?? status).toBe(status);
    if (includes<string>(terminal, status)) ended.set(id, status);
  }
}

const toRow = (task: ModelTask) => ({
  ...{ id: task.id, status: task.status, assigned_aid: task.assigned?.aid ?? null },
  ...{ subtasks_count: task.subtasks_count, claims_count: liveClaims(task).length, live: liveClaims(task).length },
  ...{ accepted: task.claims.filter(({ status }) => status === 'accepted').length, messages: task.messages },
});
