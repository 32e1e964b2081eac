import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { type Agent, createPrincipals } from '@acsp/operation';
import { createPeer } from '@acsp/service';
import { percentile } from './latency.js';

// A process of its own, as a worker that serves many agents would be: it runs cycles on command until its parent ends it.

/** The message of the parent. */
export interface CycleOrder {
  readonly address: string;
  readonly secret: string;
  /** Cycles at a time. */
  readonly concurrency: number;
  readonly seconds: number;
}

/** The answer of the worker. */
export interface CycleResult {
  readonly cycles: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const agents = Array.from(
  { length: 50 },
  (_, index): Agent => ({
    aid: randomBytes(25).toString('hex'),
    name: `worker-${index}`,
    via: 'login_key',
    requestId: 'bench',
  }),
);
const pick = (index: number) => agents[index % agents.length];

const draft = {
  title: 'Summarise the weekly report',
  description: 'Read the attached report and write a summary of at most two hundred words for the board. '.repeat(3),
  requirements: ['english', 'finance'],
  tags: ['summary', 'report'],
};
const result_text = 'The week closed above plan; two risks remain open and both have owners. '.repeat(4);

type Tasks = ReturnType<typeof connect>;
const connect = ({ address, secret }: CycleOrder) =>
  createPeer(TasksService, { address, principals: createPrincipals([secret]), name: 'bench' });

async function cycle(tasks: Tasks, index: number): Promise<void> {
  const creator = { caller: pick(index) };
  const worker = { caller: pick(index + 1) };
  const created = await tasks.createTask({ ...draft }, creator);
  const task_id = created.task?.id ?? '';
  await tasks.claimTask({ task_id }, worker);
  await tasks.submitTask({ task_id, result_text }, worker);
  const { status } = await tasks.updateTask({ task_id, action: 'approve' }, creator);
  if (status !== 'done') throw new Error(`an approved task is ${status}`);
}

async function run(order: CycleOrder): Promise<CycleResult> {
  using tasks = connect(order);
  const times: number[] = [];
  const start = performance.now();
  const end = start + order.seconds * 1000;
  const lanes = Array.from({ length: order.concurrency }, async (_, lane) => {
    for (let index = lane * 7; performance.now() < end; index += 1) {
      const began = performance.now();
      await cycle(tasks, index);
      times.push(performance.now() - began);
    }
  });
  await Promise.all(lanes);
  const seconds = (performance.now() - start) / 1000;
  return { cycles: times.length, seconds, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}

process.on('disconnect', () => process.exit(0));
for (;;) {
  const [order] = await once(process, 'message');
  process.send?.(await run(order as CycleOrder));
}
