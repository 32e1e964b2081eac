import type { Answer, TestAgent, World } from '../harness.js';
import { startWorld } from '../harness.js';
import { time, uuid } from './shapes.js';

/** Three agents and the shortest ways to have them do something with tasks. */
export interface TaskCast extends AsyncDisposable {
  readonly world: World;
  readonly agents: Readonly<Record<Who, TestAgent>>;
  call(who: Who, path: string, body: object): Promise<Answer>;
  /** A task of Ann. */
  create(fields?: object): Promise<string>;
  claim(who: Who, taskId: string, fields?: object): Promise<Answer>;
  update(who: Who, taskId: string, action: string, fields?: object): Promise<Answer>;
  submit(who: Who, taskId: string, fields?: object): Promise<Answer>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
  details(taskId: string): Promise<any>;
  /** A task of Ann that Bob has brought to a status. */
  taskIn(status: string): Promise<string>;
}

export type Who = 'ann' | 'bob' | 'eve';

export const nowhere = '019a0000-0000-7000-8000-000000000000';
export const texts = { title: 'Paint the fence', description: 'Both sides, twice' };

export async function startTaskCast(): Promise<TaskCast> {
  const world = await startWorld();
  const agents = {
    ann: await world.quickstart('Ann'),
    bob: await world.quickstart('Bob'),
    eve: await world.quickstart('Eve'),
  };
  const call: TaskCast['call'] = (who, path, body) => world.call(agents[who], `POST /tasks${path}`, body);
  const create: TaskCast['create'] = async (fields) => (await call('ann', '', { ...texts, ...fields })).body.task.id;
  const claim: TaskCast['claim'] = (who, task_id, fields) => call(who, '/claim', { task_id, ...fields });
  const update: TaskCast['update'] = (who, task_id, action, fields) =>
    call(who, '/update', { task_id, action, ...fields });
  const submit: TaskCast['submit'] = (who, task_id, fields) =>
    call(who, '/submit', { task_id, result_text: 'Painted', ...fields });
  const details: TaskCast['details'] = async (id) => (await world.call(agents.eve, `GET /tasks/${id}`)).body;

  const steps: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    open: async () => {},
    cancelled: (id) => update('ann', id, 'cancel'),
    claimed: (id) => claim('bob', id),
    in_progress: async (id) => (await claim('bob', id)) && update('bob', id, 'start'),
    failed: async (id) => (await claim('bob', id)) && submit('bob', id, { failed: true }),
    review: async (id) => (await claim('bob', id)) && submit('bob', id),
    done: async (id) => (await claim('bob', id)) && (await submit('bob', id)) && update('ann', id, 'approve'),
  };
  const taskIn: TaskCast['taskIn'] = async (status) => {
    const id = await create();
    await steps[status]?.(id);
    expect((await details(id)).task.status).toBe(status);
    return id;
  };
  return {
    world,
    agents,
    call,
    create,
    claim,
    update,
    submit,
    details,
    taskIn,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Every field of a task, as it is when nothing was given and nothing has happened. */
export const fresh = (creator: TestAgent) => ({
  id: uuid,
  creator_aid: creator.aid,
  creator_name: creator.name,
  parent_id: null,
  ...texts,
  requirements: [],
  tags: [],
  status: 'open',
  priority: 'normal',
  deadline: null,
  expires_at: time,
  assigned_aid: null,
  assigned_name: null,
  target_aid: null,
  max_claims: 1,
  claims_count: 0,
  subtasks_count: 0,
  result: null,
  result_text: null,
  failure_reason: null,
  workspace_id: null,
  group_id: null,
  metadata: {},
  created_at: time,
  claimed_at: null,
  started_at: null,
  completed_at: null,
});
