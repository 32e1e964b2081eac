import { testClock } from '@acsp/testkit';
import {
  agentLock,
  anonymous,
  type Identity,
  keysOf,
  peerOf,
  publicUrl,
  type Registered,
  refused,
  registered,
  startIdentity,
  whileLocked,
} from './harness.js';

const clock = testClock();
let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity({ clock });
});
afterAll(() => identity[Symbol.asyncDispose]());

const connect = (agent: Registered, aid = agent.aid) => identity.call(agent, 'POST /connect', { aid });
const redeem = (token: string) => identity.call(anonymous, `GET /connect/${token}`);
const tokenOf = async (agent: Registered): Promise<string> => (await connect(agent)).body.token;

test('exchanges a token for a login key of a day', async () => {
  const agent = await registered(identity);
  const { status, body } = await connect(agent);
  expect(status).toBe(201);
  expect(body).toEqual({
    token: expect.stringMatching(/^[\w-]{43}$/),
    connect_url: `${publicUrl}/api/acsp/connect/${body.token}`,
    expires_at: new Date(clock.now().getTime() + 600_000).toISOString(),
  });
  const redeemed = await redeem(body.token);
  expect(redeemed.status).toBe(200);
  expect(redeemed.body).toEqual({
    aid: agent.aid,
    agent_name: 'Ann',
    login_key: expect.stringMatching(/^nk_/),
    login_key_expires: new Date(clock.now().getTime() + 86_400_000).toISOString(),
  });
  using peer = peerOf(identity);
  expect(await peer.verifyLoginKey({ login_key: redeemed.body.login_key })).toMatchObject({ aid: agent.aid });
});

test('redeems a token once, whoever asks at once', async () => {
  const agent = await registered(identity);
  const token = await tokenOf(agent);
  const answers = await whileLocked(identity, agentLock(agent), () => Array.from({ length: 5 }, () => redeem(token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  expect(await redeem(token)).toMatchObject(refused('CONNECT_TOKEN_INVALID'));
  expect(await keysOf(identity, agent)).toBe(2);
});

test('redeems each of several tokens of an agent', async () => {
  const agent = await registered(identity);
  const tokens = [await tokenOf(agent), await tokenOf(agent)];
  const answers = await Promise.all(tokens.map(redeem));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

test.each(['unknown', '%00', 'a'.repeat(2000)])('refuses the token %.20s', async (token) => {
  expect(await redeem(token)).toMatchObject(refused('CONNECT_TOKEN_INVALID'));
});

test('refuses a token of ten minutes ago, and clears it away with the next one', async () => {
  const agent = await registered(identity);
  const [old, young] = [await tokenOf(agent), await tokenOf(agent)];
  clock.advance(599_999);
  expect(await redeem(young)).toMatchObject({ status: 200 });
  clock.advance(1);
  expect(await redeem(old)).toMatchObject(refused('CONNECT_TOKEN_INVALID'));
  await connect(agent);
  const { prisma } = identity.context.database;
  expect(await prisma.connectToken.count({ where: { aid: agent.aid } })).toBe(1);
});

test('does not keep the token in readable form', async () => {
  const agent = await registered(identity);
  const token = await tokenOf(agent);
  const { prisma } = identity.context.database;
  const [row] = await prisma.connectToken.findMany({ where: { aid: agent.aid } });
  const kept = Buffer.from(row?.hash ?? []);
  expect(kept).toHaveLength(32);
  for (const readable of [token, Buffer.from(token, 'base64url')]) expect(kept.includes(readable)).toBe(false);
});

test('a redemption that fails leaves the token usable', async () => {
  const agent = await registered(identity);
  const token = await tokenOf(agent);
  const { prisma } = identity.context.database;
  await prisma.$executeRaw`ALTER TABLE login_key ADD CONSTRAINT none_of_a_day CHECK (expires_at - created_at > '1 day') NOT VALID`;
  expect(await redeem(token)).toMatchObject(refused('INTERNAL_ERROR'));
  await prisma.$executeRaw`ALTER TABLE login_key DROP CONSTRAINT none_of_a_day`;
  expect(await keysOf(identity, agent)).toBe(1);
  expect(await redeem(token)).toMatchObject({ status: 200, body: { aid: agent.aid } });
});

test('gives no key to an agent that was revoked in between', async () => {
  const agent = await registered(identity);
  const token = await tokenOf(agent);
  await identity.call(agent, 'POST /revoke', { aid: agent.aid });
  expect(await redeem(token)).toMatchObject(refused('AID_NOT_FOUND'));
  expect(await connect(agent)).toMatchObject(refused('AID_NOT_FOUND'));
});

test('gives no key by the token of a former life', async () => {
  const agent = await registered(identity);
  const token = await tokenOf(agent);
  await identity.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true });
  const again = await registered(identity, {}, agent);
  expect(await redeem(token)).toMatchObject(refused('CONNECT_TOKEN_INVALID'));
  expect(await keysOf(identity, again)).toBe(1);
});

test('refuses a caller that nobody vouches for, one that is another agent, and a body without an AID', async () => {
  const [ann, bob] = [await registered(identity), await registered(identity)];
  expect(await identity.call(anonymous, 'POST /connect', { aid: ann.aid })).toMatchObject(refused('AUTH_REQUIRED'));
  expect(await connect(bob, ann.aid)).toMatchObject(refused('AID_MISMATCH'));
  expect(await identity.call(ann, 'POST /connect', {})).toMatchObject(refused('INVALID_AID'));
});
