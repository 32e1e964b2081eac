import { type Account, nth, type Scenario } from './scenario.js';

const draft = {
  title: 'Summarise the weekly report',
  description: 'Read the attached report and write a summary of at most two hundred words for the board. '.repeat(3),
  requirements: ['english', 'finance'],
  tags: ['summary', 'report'],
};

/** POST /api/acsp/tasks in the name of an agent. */
export const creation = ({ aid, loginKey }: Account) =>
  ({
    method: 'POST',
    path: '/api/acsp/tasks',
    loginKey,
    body: JSON.stringify({ aid, ...draft }),
    expect: 201,
  }) as const;

/** The id in an answer to `creation`: the baseline answers with the bare row. */
export function createdId(answer: string): string {
  const { task, id } = JSON.parse(answer);
  return task?.id ?? id;
}

export const createTask: Scenario = {
  name: 'create',
  title: 'create a task',
  aim: 0.7,
  journey:
    (_side, { accounts }) =>
    (connection) => {
      const request = creation(nth(accounts, connection));
      return async (send) => {
        await send(request);
      };
    },
};
