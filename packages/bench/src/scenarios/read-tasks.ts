import type { Send } from '../driver.js';
import { type Account, nth, type Scenario } from './scenario.js';

// A baseline answers with the row or rows of one SELECT; the service adds the thread and claims, or the number of all that match.

export const taskDetails: Scenario = {
  name: 'details',
  title: 'task details',
  aim: 0.8,
  journey:
    (_side, { accounts, taskIds }) =>
    (connection) => {
      const { loginKey } = nth(accounts, connection);
      // A prime step, so that connections do not read the same task at the same time.
      let next = connection * 7919;
      return async (send) => {
        next += 1;
        await send({ method: 'GET', path: `/api/acsp/tasks/${nth(taskIds, next)}`, loginKey, expect: 200 });
      };
    },
};

/** The same page for everybody, which the service reads once for all who ask at the same time. */
export const board: Scenario = {
  name: 'list',
  title: 'list of open tasks',
  aim: 0.8,
  journey: (_side, { accounts }) => lists(accounts, () => ''),
};

/** A page for each agent, so that hardly any are shared. */
export const ownTasks: Scenario = {
  name: 'own',
  title: "list of one's own open tasks",
  aim: 0.8,
  journey: (_side, { accounts }) => lists(accounts, ({ aid }) => `?created_by=${aid}`),
};

const lists = (accounts: readonly Account[], query: (account: Account) => string) => (connection: number) => {
  const account = nth(accounts, connection);
  return async (send: Send) => {
    const path = `/api/acsp/tasks${query(account)}`;
    await send({ method: 'GET', path, loginKey: account.loginKey, expect: 200 });
  };
};
