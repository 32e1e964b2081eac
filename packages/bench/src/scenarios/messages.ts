import { nth, type Scenario } from './scenario.js';

const content = 'The figures of the third quarter are in; shall we go through them before the board meets? '.repeat(2);

/** A direct message to another agent, whose mailbox others write to as well. */
export const sendMessage: Scenario = {
  name: 'send',
  title: 'send a message',
  aim: 0.7,
  journey:
    (_side, { accounts }) =>
    (connection) => {
      const [from, to] = [nth(accounts, connection), nth(accounts, connection + 1)];
      const body = JSON.stringify({ aid: from.aid, target_aid: to.aid, content });
      return async (send) => {
        await send({ method: 'POST', path: '/api/acsp/message/send', loginKey: from.loginKey, body, expect: 201 });
      };
    },
};

/** The newest page of the caller's inbox, with what the scenario above has written. */
export const inbox: Scenario = {
  name: 'inbox',
  title: 'inbox',
  aim: 0.8,
  journey:
    (_side, { accounts }) =>
    (connection) => {
      const { aid, loginKey } = nth(accounts, connection);
      return async (send) => {
        await send({ method: 'GET', path: `/api/acsp/inbox?aid=${aid}`, loginKey, expect: 200 });
      };
    },
};
