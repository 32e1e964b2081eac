import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { type Principal, type RpcClientOf, rpcClient } from '@acsp/rpc';
import { testClock } from '@acsp/testkit';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { type Identity, newcomer, nobody, principals, profile, startIdentity } from './harness.js';

const clock = testClock('2026-03-01T20:00:00Z');
let identity: Identity;
let client: RpcClientOf<typeof IdentityService>;

beforeAll(async () => {
  identity = await startIdentity({ clock });
  client = rpcClient(IdentityService, { address: identity.address, principals, name: 'gateway' });
});
afterAll(async () => {
  client[Symbol.dispose]();
  await identity[Symbol.asyncDispose]();
});

const code = (error: string) => expect.objectContaining({ code: error });

describe('verifyLoginKey', () => {
  test('says whose key it is and until when', async () => {
    const { aid, loginKey } = await identity.registered();
    const { expiresAt, ...holder } = await client.verifyLoginKey({ loginKey });
    expect(holder).toMatchObject({ aid, agentName: 'Ann' });
    expect(expiresAt && timestampDate(expiresAt).getTime()).toBe(clock.now().getTime() + 90 * 86_400_000);
  });

  test.each(['', 'nk_short', `nk_${'a'.repeat(43)}`, 'nk_\u0130'])('refuses %j', async (loginKey) => {
    await expect(client.verifyLoginKey({ loginKey })).rejects.toEqual(code('INVALID_LOGIN_KEY'));
  });

  test('refuses the key of an agent that is revoked or deleted', async () => {
    const [ann, bob] = [await identity.registered(), await identity.registered()];
    await identity.call(ann, 'POST /revoke', { aid: ann.aid });
    await identity.call(bob, 'POST /account-delete', { aid: bob.aid, confirm: true });
    for (const { loginKey } of [ann, bob]) {
      await expect(client.verifyLoginKey({ loginKey })).rejects.toEqual(code('INVALID_LOGIN_KEY'));
    }
  });

  test('refuses a key that has expired', async () => {
    const { loginKey } = await identity.registered();
    clock.advance(90 * 86_400_000);
    await expect(client.verifyLoginKey({ loginKey })).rejects.toEqual(code('INVALID_LOGIN_KEY'));
  });
});

test('getSigningKey shows the key of an active agent', async () => {
  const { aid, publicKey } = await identity.registered();
  expect(await client.getSigningKey({ aid })).toMatchObject({ aid, agentName: 'Ann', publicKey });
  await expect(client.getSigningKey({ aid: newcomer().aid })).rejects.toEqual(code('AID_NOT_FOUND'));
  await expect(client.getSigningKey({ aid: 'x' })).rejects.toEqual(code('INVALID_AID'));
});

test('batchGetAgents shows the active ones among some agents', async () => {
  const [ann, bob, eve] = [await identity.registered(), await identity.registered(), await identity.registered()];
  await identity.call(eve, 'POST /revoke', { aid: eve.aid });
  const { agents } = await client.batchGetAgents({ aids: [ann.aid, bob.aid, eve.aid, newcomer().aid, ann.aid] });
  expect(agents.map(({ aid }) => aid).sort()).toEqual([ann.aid, bob.aid].sort());
  expect(agents[0]).toMatchObject({ agentName: 'Ann', capabilities: profile.capabilities, metadata: {} });
  expect((await client.batchGetAgents({ aids: [] })).agents).toEqual([]);
  const tooMany = Array(101).fill(ann.aid);
  await expect(client.batchGetAgents({ aids: tooMany })).rejects.toEqual(code('INVALID_FIELD'));
});

describe('spendPrivacyBudget', () => {
  test('takes from the budget of the day, to the last tenth and no further', async () => {
    const { aid } = await identity.registered();
    for (let i = 0; i < 97; i += 1) await client.spendPrivacyBudget({ aid, epsilon: 0.1 });
    expect(await client.spendPrivacyBudget({ aid, epsilon: 0.2 })).toMatchObject({ budgetRemaining: 0.1 });
    await expect(client.spendPrivacyBudget({ aid, epsilon: 0.2 })).rejects.toMatchObject({
      code: 'PRIVACY_BUDGET_EXHAUSTED',
      retryAfterSeconds: 4 * 3600,
    });
    expect(await client.spendPrivacyBudget({ aid, epsilon: 0.1 })).toMatchObject({ budgetRemaining: 0 });
    expect((await identity.call(nobody, `GET /status?aid=${aid}`)).body.budget_remaining).toBe(0);
  });

  test('is new at midnight UTC', async () => {
    const { aid } = await identity.registered();
    await client.spendPrivacyBudget({ aid, epsilon: 10 });
    clock.advance(4 * 3_600_000);
    expect(await client.spendPrivacyBudget({ aid, epsilon: 2 })).toMatchObject({ budgetRemaining: 8 });
    expect(await identity.context.database.prisma.privacyBudget.count({ where: { aid } })).toBe(1);
  });

  test('holds when spent at once', async () => {
    const { aid } = await identity.registered();
    const spend = () => client.spendPrivacyBudget({ aid, epsilon: 2 });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, spend));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect((await identity.call(nobody, `GET /status?aid=${aid}`)).body.budget_remaining).toBe(0);
  });

  test('refuses an epsilon out of range and an agent that nobody registered', async () => {
    const { aid } = await identity.registered();
    for (const epsilon of [0, -1, 10.1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(client.spendPrivacyBudget({ aid, epsilon })).rejects.toEqual(code('INVALID_FIELD'));
    }
    await expect(client.spendPrivacyBudget({ aid: newcomer().aid, epsilon: 1 })).rejects.toEqual(code('AID_NOT_FOUND'));
  });
});

describe('on behalf of an agent', () => {
  test('serves the public operations', async () => {
    const agent = newcomer();
    const registered = await client.register({ publicKey: agent.publicKey, ...camel }, { caller: agent });
    expect(registered).toMatchObject({ aid: agent.aid, agentName: 'Ann', status: 'active' });
    const caller: Principal = { ...agent, via: 'login_key' };
    const updated = await client.updateProfile({ description: 'New' }, { caller });
    expect(updated).toMatchObject({ fieldsUpdated: ['description'], agent: { description: 'New' } });
    expect(await client.createConnectToken({}, { caller })).toMatchObject({ token: expect.any(String) });
    expect(await client.deleteAccount({ aid: agent.aid, confirm: true }, { caller })).toMatchObject({ deleted: true });
  });

  test('refuses what only services may ask', async () => {
    const { aid, loginKey, ...agent } = await identity.registered();
    const asked = [
      client.verifyLoginKey({ loginKey }, { caller: { ...agent, aid } }),
      client.getSigningKey({ aid }, { caller: { ...agent, aid } }),
      client.batchGetAgents({ aids: [aid] }, { caller: nobody }),
      client.spendPrivacyBudget({ aid, epsilon: 1 }, { caller: { ...agent, aid } }),
    ];
    for (const outcome of await Promise.allSettled(asked)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'PERMISSION_DENIED' } });
    }
  });
});

const { agent_name: agentName, ...others } = profile;
const camel = { agentName, ...others };
