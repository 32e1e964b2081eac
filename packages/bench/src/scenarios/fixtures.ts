import { drive, type Send } from '../driver.js';
import type { Side } from '../sides/side.js';
import { createdId, creation } from './create-task.js';
import { type Account, type Fixtures, nth } from './scenario.js';

const agents = 50;
const tasks = 1_000;

/** Agents by quickstart, so that neither limits nor row locks meet in one place. */
export async function makeAccounts(url: string, count = agents): Promise<Account[]> {
  const accounts: Account[] = [];
  await repeat(url, count, async (send, index) => {
    const body = JSON.stringify({
      agent_name: `bench-${index}`,
      capabilities: ['bench'],
      description: 'An agent of the bench',
    });
    const { aid, login_key } = JSON.parse(
      await send({ method: 'POST', path: '/api/acsp/quickstart', body, expect: 201 }),
    );
    accounts.push({ aid, loginKey: login_key });
  });
  return accounts;
}

/** The same number of open tasks on both sides, made through the same door as the load. */
export async function makeFixtures({ url }: Side, accounts: readonly Account[]): Promise<Fixtures> {
  const taskIds: string[] = [];
  await repeat(url, tasks, async (send, index) => {
    taskIds.push(createdId(await send(creation(nth(accounts, index)))));
  });
  return { accounts, taskIds };
}

async function repeat(url: string, times: number, work: (send: Send, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const journey = () => async (send: Send) => {
    if (next >= times) return false;
    next += 1;
    await work(send, next);
    return true;
  };
  await drive({ url, connections: 8, seconds: 60, journey });
}
