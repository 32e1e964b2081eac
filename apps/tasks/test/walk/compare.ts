import { catalogue } from '@acsp/errors';
import { statusAt, terminal } from '../../src/task/state.js';
import { stepsOf } from '../steps.js';
import { isLive, liveClaims, type ModelTask } from './model.js';
import type { Taken, World } from './world.js';

/** How far the tables were read. */
export interface Mark {
  readonly event: bigint;
  readonly log: bigint;
}

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

interface Row extends Added {
  readonly position: bigint;
}

interface Added {
  readonly task: string;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly actor: string | null;
}

/**
 * Since the mark the step left one event for each change and none for anything else, and likewise log entries; every event has its message.
 * Gives the mark for the next step.
 */
export async function compareTraces({ tasks, made }: World, { outcome }: Taken, since: Mark): Promise<Mark> {
  const { prisma } = tasks.context.database;
  const ids = made.map(({ id }) => id);
  const events = await prisma.$queryRaw<Row[]>`
    SELECT position, task_id::text AS task, type AS event, payload->>'previous_status' AS from, payload->>'status' AS to, actor
    FROM bus.outbox JOIN message ON message.id = (payload->>'message_id')::uuid
    WHERE position > ${since.event} AND task_id = ANY (${ids}::uuid[]) ORDER BY position`;
  const log = await prisma.$queryRaw<Row[]>`
    SELECT position, task_id::text AS task, event, from_status::text AS from, to_status::text AS to, actor_aid AS actor
    FROM log_entry WHERE position > ${since.log} AND task_id = ANY (${ids}::uuid[]) ORDER BY position`;
  const changes = 'changes' in outcome ? outcome.changes : [];
  const expected = changes.map(({ task, event, from, to, actor }): Added => {
    return { task: task.id, event, from: from ?? null, to, actor: actor?.aid ?? null };
  });
  expect(events.map(withoutPosition).sort(byTask)).toEqual([...expected].sort(byTask));
  const logged = expected.filter(({ event }) => event !== 'task.message_posted');
  expect(log.map(withoutPosition).sort(byTask)).toEqual(logged.sort(byTask));
  return { event: events.at(-1)?.position ?? since.event, log: log.at(-1)?.position ?? since.log };
}

const byTask = (a: Added, b: Added) => a.task.localeCompare(b.task);
const withoutPosition = ({ position: _position, ...rest }: Row): Added => rest;

/** Every row is as the model has it: one assignee at most, true counts, and nothing leaves a terminal status. */
export async function compareRows({ tasks, made }: World, ended: Map<string, string>): Promise<void> {
  const rows = await tasks.context.database.prisma.$queryRaw<{ id: string; status: string; accepted: number }[]>`
    SELECT id::text, status::text, assigned_aid, claims_count, subtasks_count,
      (SELECT count(*)::int FROM claim WHERE task_id = task.id AND status IN ('pending', 'accepted')) AS live,
      (SELECT count(*)::int FROM claim WHERE task_id = task.id AND status = 'accepted') AS accepted,
      (SELECT count(*)::int FROM message WHERE task_id = task.id) AS messages
    FROM task WHERE id = ANY (${made.map(({ id }) => id)}::uuid[]) ORDER BY id`;
  expect(rows).toEqual([...made].sort((a, b) => a.id.localeCompare(b.id)).map(toRow));
  for (const { id, status, accepted } of rows) {
    expect(accepted).toBeLessThanOrEqual(1);
    expect(ended.get(id) ?? status).toBe(status);
    if ((terminal as readonly string[]).includes(status)) ended.set(id, status);
  }
}

const toRow = (task: ModelTask) => ({
  ...{
    id: task.id,
    status: task.status,
    assigned_aid: task.assigned?.aid ?? null,
    subtasks_count: task.subtasks_count,
  },
  ...{ claims_count: liveClaims(task).length, live: liveClaims(task).length, messages: task.messages },
  accepted: task.claims.filter(({ status }) => status === 'accepted').length,
});
