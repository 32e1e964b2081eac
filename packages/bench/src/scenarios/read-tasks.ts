import { nth, type Scenario } from './scenario.js';

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

export const taskList: Scenario = {
  name: 'list',
  title: 'list of open tasks',
  aim: 0.8,
  journey:
    (_side, { accounts }) =>
    (connection) => {
      const { loginKey } = nth(accounts, connection);
      return async (send) => {
        await send({ method: 'GET', path: '/api/acsp/tasks', loginKey, expect: 200 });
      };
    },
};
