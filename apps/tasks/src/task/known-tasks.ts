import type { BatchStatement } from '@acsp/database';
import type { Context } from '../context.js';
import { type LiveClaim, live, stateColumns, type TaskState } from './state.js';

/** A task as this process knows it. Moments are those of performance.now(). */
export interface KnownTask {
  readonly task: TaskState;
  /** The moment as of which it was so. */
  readonly at: number;
  /** The latest moment as of which it was open, in this version or an earlier one. */
  readonly open_at: number;
}

/** Keeps what a task was at a moment, unless a later version of it is known already. */
export function remember({ known }: Context, task: TaskState, at: number): void {
  const before = known.get(task.id);
  const open_at = Math.max(before?.open_at ?? 0, task.status === 'open' ? at : 0);
  const isLater = before !== undefined && before.task.version > task.version;
  known.set(task.id, isLater ? { ...before, open_at } : { task, at, open_at });
}

interface Found extends Omit<TaskState, 'claims'> {
  readonly key: string;
  readonly claims: readonly (Omit<LiveClaim, 'agent_since'> & { readonly agent_since: string })[] | null;
}

/** A look-up by key, batched with other reads of the same moment. */
const states: BatchStatement<{ readonly id: string }, Found> = {
  name: 'read task',
  columns: { id: 'uuid' },
  key: ({ id }) => id,
  readOnly: true,
  text: `
    SELECT task.id AS key, ${stateColumns.map((column) => `task.${column}`).join(', ')},
      (SELECT json_agg(json_build_object('id', id, 'agent_aid', agent_aid, 'agent_name', agent_name, 'agent_since', agent_since, 'status', status))
       FROM claim WHERE claim.task_id = task.id AND status IN (${live.map((status) => `'${status}'`).join(', ')})) AS claims
    FROM input JOIN task ON task.id = input.id`,
};

/** The task as the table has it now; undefined where there is none. */
export async function readTask(context: Context, id: string): Promise<TaskState | undefined> {
  const at = performance.now();
  const found = await context.database.batch(states, { id });
  if (found === undefined) return undefined;
  const { key: _key, claims, ...rest } = found;
  const held = (claims ?? []).map((claim) => ({ ...claim, agent_since: new Date(claim.agent_since) }));
  const task = { ...rest, claims: held };
  remember(context, task, at);
  return task;
}
