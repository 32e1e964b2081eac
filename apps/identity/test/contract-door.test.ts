import type { Agent } from '@acsp/operation';
import { testClock } from '@acsp/testkit';
import { anonymous, type Identity, newcomer, peerOf, profile, recordOf, registered, startIdentity } from './harness.js';

const clock = testClock('2026-03-01T20:00:00Z');
let identity: Identity;
let peer: ReturnType<typeof peerOf>;

beforeAll(async () => {
  identity = await startIdentity({ clock });
  peer = peerOf(identity);
});
afterAll(async () => {
  peer[Symbol.dispose]();
  await identity[Symbol.asyncDispose]();
});

const code = (error: string) => expect.objectContaining({ code: error });

describe('verifyLoginKey', () => {
  test('says whose key it is, until when, and of which life', async () => {
    const { aid, loginKey: login_key } = await registered(identity);
    expect(await peer.verifyLoginKey({ login_key })).toEqual({
      aid,
      agent_name: 'Ann',
      expires_at: new Date(clock.now().getTime() + 90 * 86_400_000),
      registered_at: clock.now(),
    });
  });

  test.each(['', 'nk_short', `nk_${'a'.repeat(43)}`, 'nk_\u0130'])('refuses %j', async (login_key) => {
    await expect(peer.verifyLoginKey({ login_key })).rejects.toEqual(code('INVALID_LOGIN_KEY'));
  });

  test('refuses the key of an agent that is revoked or deleted', async () => {
    const [ann, bob] = [await registered(identity), await registered(identity)];
    await identity.call(ann, 'POST /revoke', { aid: ann.aid });
    await identity.call(bob, 'POST /account-delete', { aid: bob.aid, confirm: true });
    for (const { loginKey: login_key } of [ann, bob]) {
      await expect(peer.verifyLoginKey({ login_key })).rejects.toEqual(code('INVALID_LOGIN_KEY'));
    }
  });

  test('refuses a key that has expired', async () => {
    const { loginKey: login_key } = await registered(identity);
    clock.advance(90 * 86_400_000);
    await expect(peer.verifyLoginKey({ login_key })).rejects.toEqual(code('INVALID_LOGIN_KEY'));
  });
});

test('getSigningKey shows the key of an active agent, and nothing that is not for the gateway', async () => {
  const { aid, publicKey: public_key } = await registered(identity);
  const registered_at = clock.now();
  expect(await peer.getSigningKey({ aid })).toEqual({
    aid,
    agent_name: 'Ann',
    public_key,
    registered_at,
    signed_from: registered_at,
  });
  await expect(peer.getSigningKey({ aid: newcomer().aid })).rejects.toEqual(code('AID_NOT_FOUND'));
  await expect(peer.getSigningKey({ aid: 'x' })).rejects.toEqual(code('INVALID_AID'));
});

test('getSigningKey shows an agent that has ended only where it is asked for, with the life that it had', async () => {
  const [revoked, deleted] = [await registered(identity), await registered(identity)];
  const registered_at = clock.now();

  await identity.call(revoked, 'POST /revoke', { aid: revoked.aid });
  await identity.call(deleted, 'POST /account-delete', { aid: deleted.aid, confirm: true });
  for (const { aid, publicKey: public_key } of [revoked, deleted]) {
    await expect(peer.getSigningKey({ aid })).rejects.toEqual(code('AID_NOT_FOUND'));
    await expect(peer.getSigningKey({ aid, include_ended: true })).resolves.toMatchObject({
      public_key,
      registered_at,
    });
  }
  const { aid } = newcomer();
  await expect(peer.getSigningKey({ aid, include_ended: true })).rejects.toEqual(code('AID_NOT_FOUND'));
});

test('batchGetAgents shows the active ones among some agents', async () => {
  const [ann, bob, eve] = [await registered(identity), await registered(identity), await registered(identity)];
  await identity.call(eve, 'POST /revoke', { aid: eve.aid });
  const aids = [ann.aid, bob.aid, eve.aid, newcomer().aid, ann.aid];
  const { agents, registered_at } = await peer.batchGetAgents({ aids });
  expect(agents.map(({ aid }) => aid).sort()).toEqual([ann.aid, bob.aid].sort());
  expect(agents[0]).toEqual({ ...profile, aid: agents[0]?.aid, metadata: {} });
  const rows = await identity.context.database.prisma.agent.findMany({ where: { aid: { in: aids } } });
  const created = (aid: string) => rows.find((row) => row.aid === aid)?.created_at;
  expect(registered_at).toEqual(agents.map(({ aid }) => created(aid)));
  expect((await peer.batchGetAgents({ aids: [] })).agents).toEqual([]);
  await expect(peer.batchGetAgents({ aids: Array(101).fill(ann.aid) })).rejects.toEqual(code('INVALID_FIELD'));
  await expect(peer.batchGetAgents({ aids: ['x'] })).rejects.toEqual(code('INVALID_AID'));
});

describe('spendPrivacyBudget', () => {
  const remaining = async (aid: string) => (await recordOf(identity, { aid })).budget_remaining;

  test('takes from the budget of the day, to the last tenth and no further', async () => {
    const { aid } = await registered(identity);
    for (let i = 0; i < 97; i += 1) await peer.spendPrivacyBudget({ aid, epsilon: 0.1 });
    expect(await peer.spendPrivacyBudget({ aid, epsilon: 0.2 })).toEqual({ budget_remaining: 0.1 });
    await expect(peer.spendPrivacyBudget({ aid, epsilon: 0.2 })).rejects.toMatchObject({
      code: 'PRIVACY_BUDGET_EXHAUSTED',
      retryAfterSeconds: 4 * 3600,
    });
    expect(await peer.spendPrivacyBudget({ aid, epsilon: 0.1 })).toEqual({ budget_remaining: 0 });
    expect(await remaining(aid)).toBe(0);
  });

  test('takes something for the smallest epsilon too', async () => {
    const { aid } = await registered(identity);
    for (let i = 0; i < 2; i += 1) await peer.spendPrivacyBudget({ aid, epsilon: 1e-9 });
    expect(await remaining(aid)).toBe(9.999998);
    await expect(peer.spendPrivacyBudget({ aid, epsilon: 10 })).rejects.toEqual(code('PRIVACY_BUDGET_EXHAUSTED'));
  });

  test('is new at midnight UTC', async () => {
    const { aid } = await registered(identity);
    await peer.spendPrivacyBudget({ aid, epsilon: 10 });
    clock.advance(4 * 3_600_000);
    expect(await remaining(aid)).toBe(10);
    expect(await peer.spendPrivacyBudget({ aid, epsilon: 2 })).toEqual({ budget_remaining: 8 });
    expect(await identity.context.database.prisma.privacyBudget.count({ where: { aid } })).toBe(1);
  });

  test('holds when spent at once', async () => {
    const { aid } = await registered(identity);
    const spend = () => peer.spendPrivacyBudget({ aid, epsilon: 2 });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, spend));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await remaining(aid)).toBe(0);
  });

  test('refuses an epsilon out of range and an agent that nobody registered', async () => {
    const { aid } = await registered(identity);
    for (const epsilon of [0, -1, 10.1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(peer.spendPrivacyBudget({ aid, epsilon })).rejects.toEqual(code('INVALID_FIELD'));
    }
    await expect(peer.spendPrivacyBudget({ aid: newcomer().aid, epsilon: 1 })).rejects.toEqual(code('AID_NOT_FOUND'));
  });
});

describe('on behalf of an agent', () => {
  test('serves the public operations', async () => {
    const agent = newcomer();
    const answer = await peer.register({ public_key: agent.publicKey, ...profile }, { caller: agent });
    expect(answer).toMatchObject({ aid: agent.aid, agent_name: 'Ann', status: 'active', created_at: clock.now() });
    const caller: Agent = { ...agent, via: 'login_key' };
    const updated = await peer.updateProfile({ description: 'New' }, { caller });
    expect(updated).toMatchObject({ fields_updated: ['description'], agent: { description: 'New' } });
    expect(await peer.createConnectToken({ aid: agent.aid }, { caller })).toMatchObject({ token: expect.any(String) });
    expect(await peer.deleteAccount({ aid: agent.aid, confirm: true }, { caller })).toMatchObject({ deleted: true });
  });

  test('takes the compact forms as operations of their own', async () => {
    const agent = newcomer();
    const compact = { aid: agent.aid, ed25519_pubkey: agent.publicKey, capabilities: 'search, summary' };
    const answer = await peer.registerCompact(compact, { caller: agent });
    expect(answer).toMatchObject({ aid: agent.aid, capabilities: profile.capabilities });
    const quick = await peer.quickstartCompact({ name: 'Ann', capabilities: 'search' }, { caller: anonymous });
    expect(quick).toMatchObject({ agent_name: 'Ann', capabilities: ['search'] });
  });

  test('refuses what only services may ask', async () => {
    const caller = await registered(identity);
    const { aid, loginKey: login_key } = caller;
    const asked = [
      peer.verifyLoginKey({ login_key }, { caller }),
      peer.getSigningKey({ aid }, { caller }),
      peer.batchGetAgents({ aids: [aid] }, { caller: anonymous }),
      peer.spendPrivacyBudget({ aid, epsilon: 1 }, { caller }),
    ];
    for (const outcome of await Promise.allSettled(asked)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'PERMISSION_DENIED' } });
    }
  });
});
