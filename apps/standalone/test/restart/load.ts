import { createCaller, type TestAgent } from '../harness.js';

/** The requests that were answered with success before the service died. */
export interface Promised {
  /** Task to creator. */
  readonly created: Map<string, string>;
  /** Task to claimer. */
  readonly claimed: Map<string, string>;
  /** Message to task. */
  readonly posted: Map<string, string>;
}

export interface Load {
  readonly promised: Promised;
  /** Resolves when every agent has found the service dead. */
  readonly ended: Promise<void>;
}

/** Agents that create tasks, race for claims and write messages until the service is gone. */
export async function startLoad(
  url: string,
  creators: readonly TestAgent[],
  workers: readonly TestAgent[],
): Promise<Load> {
  const { call } = createCaller(url);
  const promised: Promised = { created: new Map(), claimed: new Map(), posted: new Map() };
  const offered: string[] = [];

  const create = async (agent: TestAgent) => {
    const { status, body } = await call(agent, 'POST /tasks', {
      title: `Task of ${agent.name}`,
      description: 'Under load',
    });
    if (status !== 201) return;
    promised.created.set(body.task.id, agent.aid);
    offered.push(body.task.id);
  };

  const work = async (agent: TestAgent) => {
    // Near the end of the list the others look too, so that claims are lost as well.
    const task_id = offered.at(-1 - Math.floor(Math.random() * 3));
    if (task_id === undefined) return create(agent);
    const claim = await call(agent, 'POST /tasks/claim', { task_id });
    if (claim.status !== 200) return;
    promised.claimed.set(task_id, agent.aid);
    const message = await call(agent, 'POST /tasks/message', { task_id, content: 'On it' });
    if (message.status === 201) promised.posted.set(message.body.id, task_id);
  };

  const untilDead = async (step: (agent: TestAgent) => Promise<void>, agent: TestAgent) => {
    for (let alive = true; alive; ) {
      alive = await step(agent).then(
        () => true,
        () => false,
      );
    }
  };
  const running = [
    ...creators.map((agent) => untilDead(create, agent)),
    ...workers.map((agent) => untilDead(work, agent)),
  ];
  return { promised, ended: Promise.all(running).then(() => {}) };
}
