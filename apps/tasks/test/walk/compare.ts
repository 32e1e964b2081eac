import { catalogue } from '@acsp/errors';
import { includes, statusAt, terminal } from '../../src/task/state.js';
import { stepsOf } from '../steps.js';
import type { Trace, Walked } from './walked.js';
import type { Taken, World } from './world.js';

type Kept = Trace & { readonly position: number };

/** The rows of a world's tasks; of events and log only what came after a mark. */
interface Tables {
  readonly tasks: readonly { readonly id: string; readonly status: string }[];
  readonly events: readonly Kept[];
  readonly log: readonly Kept[];
}

/** The positions up to which outbox and log were read. */
export interface Mark {
  readonly event: number;
  readonly log: number;
}

/** One round trip, because a walk reads after each step. An event without its message is not found. */
export async function readTables({ tasks, made }: World, since: Mark): Promise<Tables> {
  const values = [made.map(({ state }) => state.id), since.event, since.log];
  const found = await tasks.context.database.pool.query<Tables>(tables, values);
  return found.rows[0] as Tables;
}

const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8 AS ${column}`;
const times = ['expires_at', 'claimed_at', 'started_at', 'completed_at'] as const;

const tables = `
  WITH rows AS (
    SELECT id, version, status, assigned_aid, claims_count, subtasks_count, ${times.map(millis)},
      (SELECT coalesce(json_agg(json_build_array(id, status) ORDER BY id), '[]') FROM claim WHERE task_id = task.id) AS claims,
      (SELECT count(*) FROM message WHERE task_id = task.id) AS messages
    FROM task WHERE id = ANY ($1::uuid[])
  ), events AS (
    SELECT outbox.position, task_id AS task, type AS event, nullif(payload->>'previous_status', '') AS from, payload->>'status' AS to, actor
    FROM bus.outbox JOIN message ON task_id = (payload->>'task_id')::uuid AND message.id = (payload->>'message_id')::uuid
    WHERE outbox.position > $2 AND task_id = ANY ($1::uuid[])
  ), entries AS (
    SELECT position, task_id AS task, event, from_status AS from, to_status AS to, actor_aid AS actor
    FROM log_entry WHERE position > $3 AND task_id = ANY ($1::uuid[])
  )
  SELECT (SELECT json_agg(rows ORDER BY id) FROM rows) AS tasks,
    (SELECT coalesce(json_agg(events ORDER BY position), '[]') FROM events) AS events,
    (SELECT coalesce(json_agg(entries ORDER BY position), '[]') FROM entries) AS log`;

/** The answer is that of the rules, and so is what everybody sees of the task afterwards. */
export async function compareAnswer({ tasks, clock }: World, { answer, outcome, task }: Taken): Promise<void> {
  if (answer !== undefined && 'refused' in outcome) {
    expect([answer.status, answer.body.code]).toEqual([catalogue[outcome.refused].http, outcome.refused]);
  } else if (answer !== undefined) expect([200, 201]).toContain(answer.status);
  if (task === undefined) return;
  const { state, subtasks_count } = task;
  const status = statusAt(state, clock.now());
  const expired = status === 'expired';
  const { body } = await stepsOf(tasks).details(task.creator, state.id);
  expect(body.task).toMatchObject({
    ...{ status, assigned_aid: state.assigned_aid, subtasks_count, expires_at: state.expires_at.toISOString() },
    claims_count: expired ? 0 : state.claims.length,
  });
  const shown = body.claims.map((claim: { id: string; status: string }) => [claim.id, claim.status]);
  const live = new Set(state.claims.map(({ id }) => id));
  const claims = [...task.claims].map(([id, held]) => [id, expired && live.has(id) ? 'rejected' : held]);
  expect(shown.sort()).toEqual(claims.sort());
  expect(body.messages).toHaveLength(task.messages);
}

/**
 * Since the mark the step left one event for each change and none for anything else, and likewise log entries.
 * Gives the mark for the next step.
 */
export function compareTraces({ events, log }: Tables, { outcome }: Taken, since: Mark): Mark {
  const expected = 'traces' in outcome ? outcome.traces : [];
  expect(inOrder(events)).toEqual(inOrder(expected));
  expect(inOrder(log)).toEqual(inOrder(expected.filter(({ event }) => event !== 'task.message_posted')));
  return { event: events.at(-1)?.position ?? since.event, log: log.at(-1)?.position ?? since.log };
}

/** The tasks that a sweep ends have no order among each other. */
const inOrder = (traces: readonly (Trace & { position?: number })[]) =>
  traces.map(({ position: _position, ...rest }) => rest).sort((a, b) => a.task.localeCompare(b.task));

/** Every row is as the rules have it, and nothing leaves a terminal status. */
export function compareRows({ tasks }: Tables, { made }: World, ended: Map<string, string>): void {
  expect(tasks).toEqual(made.map(toRow).sort((a, b) => a.id.localeCompare(b.id)));
  for (const { id, status } of tasks) {
    expect(ended.get(id) ?? status).toBe(status);
    if (includes<string>(terminal, status)) ended.set(id, status);
  }
}

function toRow({ state, claims, subtasks_count, messages }: Walked) {
  const { id, version, status, assigned_aid } = state;
  return {
    ...{ id, version, status, assigned_aid, subtasks_count, messages, claims_count: state.claims.length },
    ...Object.fromEntries(times.map((name) => [name, state[name]?.getTime() ?? null])),
    claims: [...claims].sort(([a], [b]) => a.localeCompare(b)),
  };
}
