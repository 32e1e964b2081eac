import { type Identity, nobody, profile, type Registered, refused, startIdentity } from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const revoke = (agent: Registered, fields: object = {}) =>
  identity.call(agent, 'POST /revoke', { aid: agent.aid, ...fields });
const register = (agent: Registered) =>
  identity.call(agent, 'POST /register', { public_key: agent.publicKey, ...profile });
const keysOf = ({ aid }: Registered) => identity.context.database.prisma.loginKey.count({ where: { aid } });

test('makes an agent unknown to every lookup and takes its keys', async () => {
  const agent = await identity.registered();
  expect(await revoke(agent)).toMatchObject({ status: 200, body: { revoked: true, aid: agent.aid } });
  const lookups = [
    identity.call(nobody, `GET /status?aid=${agent.aid}`),
    identity.call(nobody, `GET /auth/verify?aid=${agent.aid}`),
    identity.call(agent, 'POST /agent-init', { aid: agent.aid }),
    identity.call(agent, 'POST /profile/update', { aid: agent.aid, description: 'x' }),
    identity.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true }),
  ];
  for (const answer of await Promise.all(lookups)) expect(answer).toMatchObject(refused('AID_NOT_FOUND'));
  expect(await keysOf(agent)).toBe(0);
  expect(await identity.eventsOf(agent.aid)).toEqual(['agent.registered', 'agent.revoked']);
});

test('is for good: the AID cannot register again', async () => {
  const agent = await identity.registered();
  await revoke(agent);
  expect(await register(agent)).toMatchObject(refused('AID_EXISTS'));
  expect(await revoke(agent)).toMatchObject(refused('AID_NOT_FOUND'));
  expect(await identity.eventsOf(agent.aid)).toEqual(['agent.registered', 'agent.revoked']);
});

test('leaves no key to an agent that asks for one at the same moment', async () => {
  const agent = await identity.registered();
  const init = () => identity.call(agent, 'POST /agent-init', { aid: agent.aid });
  await Promise.all([init(), init(), revoke(agent), init(), init()]);
  expect(await keysOf(agent)).toBe(0);
});

test('leaves the agent alone when the body is about an attestation', async () => {
  const agent = await identity.registered();
  const answer = await revoke(agent, { attestation_id: '019a0000-0000-7000-8000-000000000000' });
  expect(answer.status).toBe(503);
  expect(await identity.call(nobody, `GET /status?aid=${agent.aid}`)).toMatchObject({ status: 200 });
});

test('refuses a caller that nobody vouches for, one that is another agent, and a body without an AID', async () => {
  const [ann, bob] = [await identity.registered(), await identity.registered()];
  expect(await identity.call(nobody, 'POST /revoke', { aid: ann.aid })).toMatchObject(refused('AUTH_REQUIRED'));
  expect(await identity.call(bob, 'POST /revoke', { aid: ann.aid })).toMatchObject(refused('AID_MISMATCH'));
  expect(await identity.call(ann, 'POST /revoke', {})).toMatchObject(refused('INVALID_AID'));
  expect(await identity.call(nobody, `GET /status?aid=${ann.aid}`)).toMatchObject({ status: 200 });
});
