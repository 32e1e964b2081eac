import type { Agent } from '@acsp/operation';
import type { Action } from '../src/task/decide.js';
import type { Tasks } from './harness.js';

/** The operations as short calls at the public door. Each says who asks. */
export const stepsOf = (tasks: Tasks) => ({
  create: (who: Agent, fields: object = {}) => tasks.call(who, 'POST /tasks', { ...draft, ...fields }),
  list: (who: Agent, query = '') => tasks.call(who, `GET /tasks?${query}`),
  details: (who: Agent, id: string) => tasks.call(who, `GET /tasks/${id}`),
  claim: (who: Agent, task_id: string, fields: object = {}) =>
    tasks.call(who, 'POST /tasks/claim', { task_id, ...fields }),
  resolve: (who: Agent, task_id: string, claim_id: string, decision: 'accept' | 'reject') =>
    tasks.call(who, 'POST /tasks/claims/resolve', { task_id, claim_id, decision }),
  update: (who: Agent, task_id: string, action: Action, comment?: string) =>
    tasks.call(who, 'POST /tasks/update', { task_id, action, comment }),
  submit: (who: Agent, task_id: string, fields: object = {}) =>
    tasks.call(who, 'POST /tasks/submit', { task_id, result_text: '42 stones', ...fields }),
  delegate: (who: Agent, parent_id: string, fields: object = {}) =>
    tasks.call(who, 'POST /tasks/delegate', { parent_id, ...draft, ...fields }),
  post: (who: Agent, task_id: string, fields: object = {}) =>
    tasks.call(who, 'POST /tasks/message', { task_id, content: 'Which stones?', ...fields }),

  /** A new task of `who`. */
  async created(who: Agent, fields: object = {}): Promise<string> {
    const { body } = await tasks.call(who, 'POST /tasks', { ...draft, ...fields });
    return body.task.id;
  },
});

export type Steps = ReturnType<typeof stepsOf>;

export const draft = { title: 'Count stones', description: 'All of them' };

export const statuses = ['open', 'claimed', 'in_progress', 'review', 'done', 'failed', 'cancelled'] as const;

/** Leads a new task of `creator` to a status, by `worker` where somebody has to work on it. */
export async function taskIn(
  steps: Steps,
  status: (typeof statuses)[number],
  { creator, worker, ...fields }: { creator: Agent; worker: Agent } & Record<string, unknown>,
): Promise<string> {
  const id = await steps.created(creator, fields);
  if (status === 'cancelled') await steps.update(creator, id, 'cancel');
  if (status === 'open' || status === 'cancelled') return id;
  await steps.claim(worker, id);
  if (status === 'claimed') return id;
  await steps.update(worker, id, 'start');
  if (status === 'in_progress') return id;
  await steps.submit(worker, id, { failed: status === 'failed' });
  if (status === 'done') await steps.update(creator, id, 'approve');
  return id;
}

export const nowhere = '019a0000-0000-7000-8000-000000000000';

/** Rows for `test.each` of codes and the fields that they refuse, with a short text of the fields for the test's name. */
export const withLabels = (rows: readonly (readonly [code: string, fields: object])[]) =>
  rows.map(([code, fields]) => [code, label(fields), fields] as const);

const label = (fields: object): string => {
  const text = Object.entries(fields)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ');
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
};
