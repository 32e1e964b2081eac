import {
  anonymous,
  eventsOf,
  type Identity,
  keysOf,
  type Registered,
  recordOf,
  refused,
  register,
  registered,
  startIdentity,
} from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const revoke = (agent: Registered, fields: object = {}) =>
  identity.call(agent, 'POST /revoke', { aid: agent.aid, ...fields });

test('makes an agent unknown to every lookup and takes its keys', async () => {
  const agent = await registered(identity);
  expect(await revoke(agent)).toMatchObject({ status: 200, body: { revoked: true, aid: agent.aid } });
  const lookups = [
    identity.call(anonymous, `GET /status?aid=${agent.aid}`),
    identity.call(anonymous, `GET /auth/verify?aid=${agent.aid}`),
    identity.call(agent, 'POST /agent-init', { aid: agent.aid }),
    identity.call(agent, 'POST /profile/update', { aid: agent.aid, description: 'x' }),
    identity.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true }),
  ];
  for (const answer of await Promise.all(lookups)) expect(answer).toMatchObject(refused('AID_NOT_FOUND'));
  expect(await keysOf(identity, agent)).toBe(0);
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'agent.revoked']);
});

test('is for good: the AID cannot register again', async () => {
  const agent = await registered(identity);
  await revoke(agent);
  expect(await register(identity, agent)).toMatchObject(refused('AID_EXISTS'));
  expect(await revoke(agent)).toMatchObject(refused('AID_NOT_FOUND'));
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'agent.revoked']);
});

test('leaves no key to an agent that asks for one at the same moment', async () => {
  const agent = await registered(identity);
  const init = () => identity.call(agent, 'POST /agent-init', { aid: agent.aid });
  await Promise.all([init(), init(), revoke(agent), init(), init()]);
  expect(await keysOf(identity, agent)).toBe(0);
});

test('refuses a caller that nobody vouches for, one that is another agent, and a body without an AID', async () => {
  const [ann, bob] = [await registered(identity), await registered(identity)];
  expect(await identity.call(anonymous, 'POST /revoke', { aid: ann.aid })).toMatchObject(refused('AUTH_REQUIRED'));
  expect(await identity.call(bob, 'POST /revoke', { aid: ann.aid })).toMatchObject(refused('AID_MISMATCH'));
  expect(await identity.call(ann, 'POST /revoke', {})).toMatchObject(refused('INVALID_AID'));
  expect(await identity.call(anonymous, `GET /status?aid=${ann.aid}`)).toMatchObject({ status: 200 });
});

test('leaves the agent alone where the body names an attestation', async () => {
  const agent = await registered(identity);
  const body = { attestation_id: '019a0000-0000-7000-8000-000000000000' };
  expect(await revoke(agent, body)).toMatchObject(refused('SERVICE_UNAVAILABLE'));
  expect(await recordOf(identity, agent)).toMatchObject({ status: 'active' });
});
