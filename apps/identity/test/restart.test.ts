import { type TestDatabase, testDatabase } from '@acsp/testkit';
import { agentLock, anonymous, refused, registered, startIdentity, whileLocked } from './harness.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const start = () => startIdentity({ databaseUrl: database.url });

test('a connect token outlives the process that made it', async () => {
  const before = await start();
  const agent = await registered(before);
  const { token } = (await before.call(agent, 'POST /connect', { aid: agent.aid })).body;
  await before[Symbol.asyncDispose]();

  await using after = await start();
  const redeemed = await after.call(anonymous, `GET /connect/${token}`);
  expect(redeemed).toMatchObject({ status: 200, body: { aid: agent.aid } });
  expect(await after.call(anonymous, `GET /connect/${token}`)).toMatchObject(refused('CONNECT_TOKEN_INVALID'));
});

test('of two replicas that redeem a token at once one gives a key', async () => {
  await using first = await start();
  await using second = await start();
  const agent = await registered(first);
  const { token } = (await first.call(agent, 'POST /connect', { aid: agent.aid })).body;
  const redeem = () => [first, second].map((one) => one.call(anonymous, `GET /connect/${token}`));
  const answers = await whileLocked(first, agentLock(agent), redeem);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
});
