import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { rpcClient } from '@acsp/rpc';
import { testClock } from '@acsp/testkit';
import { type Identity, nobody, principals, publicUrl, type Registered, refused, startIdentity } from './harness.js';

const clock = testClock();
let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity({ clock });
});
afterAll(() => identity[Symbol.asyncDispose]());

const connect = (agent: Registered, aid = agent.aid) => identity.call(agent, 'POST /connect', { aid });
const redeem = (token: string) => identity.call(nobody, `GET /connect/${token}`);

test('exchanges a token for a login key of a day', async () => {
  const agent = await identity.registered();
  const { status, body } = await connect(agent);
  expect(status).toBe(201);
  expect(body).toEqual({
    token: expect.stringMatching(/^[\w-]{43}$/),
    connect_url: `${publicUrl}/api/acsp/connect/${body.token}`,
    expires_at: new Date(clock.now().getTime() + 600_000).toISOString(),
  });
  const redeemed = await redeem(body.token);
  expect(redeemed).toMatchObject({
    status: 200,
    body: {
      aid: agent.aid,
      agent_name: 'Ann',
      login_key: expect.stringMatching(/^nk_/),
      login_key_expires: new Date(clock.now().getTime() + 86_400_000).toISOString(),
    },
  });
  using client = rpcClient(IdentityService, { address: identity.address, principals, name: 'gateway' });
  const holder = await client.verifyLoginKey({ loginKey: redeemed.body.login_key });
  expect(holder).toMatchObject({ aid: agent.aid });
});

test('redeems a token once, whoever asks at once', async () => {
  const { body } = await connect(await identity.registered());
  const answers = await Promise.all(Array.from({ length: 5 }, () => redeem(body.token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  expect(await redeem(body.token)).toMatchObject(refused('CONNECT_TOKEN_INVALID'));
});

test.each(['unknown', '%00', 'a'.repeat(2000)])('refuses the token %.20s', async (token) => {
  expect(await redeem(token)).toMatchObject(refused('CONNECT_TOKEN_INVALID'));
});

test('does not keep the token in readable form', async () => {
  const { body } = await connect(await identity.registered());
  expect(await identity.context.store.get(`connect:${body.token}`)).toBeUndefined();
});

test('gives no key to an agent that was revoked in between', async () => {
  const agent = await identity.registered();
  const { body } = await connect(agent);
  await identity.call(agent, 'POST /revoke', { aid: agent.aid });
  expect(await redeem(body.token)).toMatchObject(refused('AID_NOT_FOUND'));
});

test('refuses a caller that nobody vouches for, one that is another agent, and a body without an AID', async () => {
  const [ann, bob] = [await identity.registered(), await identity.registered()];
  expect(await identity.call(nobody, 'POST /connect', { aid: ann.aid })).toMatchObject(refused('AUTH_REQUIRED'));
  expect(await connect(bob, ann.aid)).toMatchObject(refused('AID_MISMATCH'));
  expect(await identity.call(ann, 'POST /connect', {})).toMatchObject(refused('INVALID_AID'));
});
