import { eventually } from '@acsp/testkit';
import { agent, startTasks, type Tasks } from './harness.js';
import { type Steps, stepsOf } from './steps.js';

let tasks: Tasks;
let steps: Steps;
const ann = agent('Ann');

beforeAll(async () => {
  tasks = await startTasks();
  steps = stepsOf(tasks);
});
afterAll(() => tasks[Symbol.asyncDispose]());

/** A task whose thread has half a mebibyte. */
async function largeTask(): Promise<string> {
  const id = await steps.created(ann);
  await tasks.context.database.prisma.$executeRaw`
    INSERT INTO message (id, task_id, sender_aid, sender_name, msg_type, content, created_at)
    SELECT gen_random_uuid(), ${id}::uuid, ${ann.aid}, 'Ann', 'comment', repeat('x', 1024), now() FROM generate_series(1, 499)`;
  return id;
}

test('R7: large tasks are read one after the other, and nobody else waits for them', async () => {
  const [first, second, small] = [await largeTask(), await largeTask(), await steps.created(ann)];
  const { lane } = tasks.context.largeTasks;
  // Before and after they are known to be large.
  for (let round = 0; round < 2; round += 1) {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = lane(() => held);
    const waiting = [first, second].map((id) => steps.details(ann, id));
    await eventually(() => lane.waiting() === 2);
    expect((await steps.details(ann, small)).body.messages).toHaveLength(1);
    release();
    for (const { status, body } of await Promise.all(waiting))
      expect([status, body.messages.length]).toEqual([200, 500]);
    await holding;
  }
});
