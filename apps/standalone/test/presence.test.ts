import { generateKeyPair } from '@acsp/crypto';
import { eventually } from '@acsp/testkit';
import { startWorld, type TestAgent, type World } from './harness.js';

// Presence through the gateway, beside the identity that shows it.

let world: World;
let ann: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  ann = await world.quickstart('Ann');
});
afterAll(() => world[Symbol.asyncDispose]());

const statusOf = async ({ aid }: TestAgent) => (await world.call(undefined, `GET /status?aid=${aid}`)).body.presence;
const presenceOf = async ({ aid }: TestAgent) => (await world.call(ann, `GET /presence?aid=${aid}`)).body;

test('a login key in the body is as good as one in the header, and the status of an agent shows what it said', async () => {
  const bob = await world.quickstart('Bob');
  const body = JSON.stringify({ aid: bob.aid, login_key: bob.loginKey, status: 'busy' });
  expect((await world.send('POST /presence/heartbeat', { body })).status).toBe(200);
  // Identity looks away for a second after an answer of events that was late.
  const shown = await eventually(async () => {
    const presence = await statusOf(bob);
    return presence.status === 'busy' && presence;
  });
  expect(await presenceOf(bob)).toEqual({ aid: bob.aid, ...shown });
});

test('an agent that deletes its account and registers again was never seen', async () => {
  const keys = generateKeyPair();
  const former = await world.register('Eve', keys);
  await world.call(former, 'POST /presence', { status: 'away' });
  await world.call(former, 'POST /account-delete', { aid: former.aid, confirm: true });
  expect((await presenceOf(former)).code).toBe('AID_NOT_FOUND');
  const back = await world.register('Eve', keys);
  const neverSeen = { status: 'offline', last_seen: null };
  expect(await presenceOf(back)).toEqual({ aid: back.aid, ...neverSeen });
  expect(await statusOf(back)).toEqual(neverSeen);
});

test('the sweep is for the scheduler alone', async () => {
  const sweep = (token: string) =>
    world.send('POST /presence/sweep', { headers: { authorization: `Bearer ${token}` }, body: '{}' });
  expect(await sweep(world.internalToken)).toMatchObject({ status: 200, body: { swept: 0 } });
  expect(await sweep(ann.loginKey)).toMatchObject({ status: 401, body: { code: 'INVALID_TOKEN' } });
});
