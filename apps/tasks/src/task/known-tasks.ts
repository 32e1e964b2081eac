import type { BatchStatement } from '@acsp/database';
import type { Context } from '../context.js';
import { type LiveClaim, live, stateColumns, type TaskState } from './state.js';

/** A task and the moment, by performance.now(), as of which this process knows that it was so. */
export interface KnownTask {
  readonly task: TaskState;
  readonly at: number;
}

interface Found extends Omit<TaskState, 'claims'> {
  readonly claims: readonly (Omit<LiveClaim, 'agent_since'> & { readonly agent_since: string })[] | null;
}

/** By key, together with what else is read at the same time. */
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
export async function readTask({ database, known }: Context, id: string): Promise<TaskState | undefined> {
  const at = performance.now();
  const found = await database.batch(states, { id });
  if (found === undefined) return undefined;
  const claims = (found.claims ?? []).map((claim) => ({ ...claim, agent_since: new Date(claim.agent_since) }));
  const task = { ...found, claims };
  if ((known.get(id)?.task.version ?? -1) <= task.version) known.set(id, { task, at });
  return task;
}

/** The task as this process knows it, from memory or from the table. */
export async function lookUpTask(context: Context, id: string): Promise<TaskState | undefined> {
  return context.known.get(id)?.task ?? readTask(context, id);
}
