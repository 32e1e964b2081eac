import type { Send } from '../driver.js';
import { createdId, creation } from './create-task.js';
import { type Account, nth, type Scenario } from './scenario.js';

const resultText = 'The week closed above plan; two risks remain open and both have owners. '.repeat(4);

/** create → claim → start → submit → approve; the baseline inserts a row and updates it four times. */
export const cycle: Scenario = {
  name: 'cycle',
  title: 'full cycle, 5 requests',
  aim: 0.7,
  journey: (side, { accounts }) => {
    const follow = side === 'acsp' ? lifeOfTask : updatesOfRow;
    return (connection) => {
      const creator = nth(accounts, connection);
      const worker = nth(accounts, connection + 1);
      return async (send) => {
        await follow(send, createdId(await send(creation(creator))), creator, worker);
      };
    };
  },
};

const post = (send: Send, path: string, { aid, loginKey }: Account, fields: object) =>
  send({
    method: 'POST',
    path: `/api/acsp/tasks/${path}`,
    loginKey,
    body: JSON.stringify({ aid, ...fields }),
    expect: 200,
  });

async function lifeOfTask(send: Send, task_id: string, creator: Account, worker: Account): Promise<void> {
  await post(send, 'claim', worker, { task_id });
  await post(send, 'update', worker, { task_id, action: 'start' });
  await post(send, 'submit', worker, { task_id, result_text: resultText });
  const { status } = JSON.parse(await post(send, 'update', creator, { task_id, action: 'approve' }));
  if (status !== 'done') throw new Error(`an approved task is ${status}`);
}

async function updatesOfRow(send: Send, task_id: string, creator: Account, worker: Account): Promise<void> {
  await post(send, 'update', worker, { task_id, status: 'claimed', assigned_aid: worker.aid });
  await post(send, 'update', worker, { task_id, status: 'in_progress' });
  await post(send, 'update', worker, { task_id, status: 'review', result_text: resultText });
  await post(send, 'update', creator, { task_id, status: 'done' });
}
