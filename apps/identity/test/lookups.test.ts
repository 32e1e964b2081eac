import { testClock } from '@acsp/testkit';
import { anonymous, type Identity, newcomer, profile, refused, registered, startIdentity } from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

describe('status', () => {
  test('shows anybody an agent, and nothing that is not for everybody', async () => {
    const agent = await registered(identity, { owner_id: 'secret owner' });
    const { status, body } = await identity.call(anonymous, `GET /status?aid=${agent.aid}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      aid: agent.aid,
      ...profile,
      metadata: {},
      endpoint: null,
      status: 'active',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      budget_remaining: 10,
      region_id: 7,
      presence: { status: 'offline', last_seen: null },
      attestations: { count: 0, average_score: null, average_rating: null },
    });
  });

  test.each(['x', '', 'F'.repeat(50)])('refuses the AID %j', async (aid) => {
    expect(await identity.call(anonymous, `GET /status?aid=${aid}`)).toMatchObject(refused('INVALID_AID'));
  });

  test('refuses an agent that nobody registered', async () => {
    expect(await identity.call(anonymous, `GET /status?aid=${newcomer().aid}`)).toMatchObject(refused('AID_NOT_FOUND'));
  });

  test('tells without an AID how the service is', async () => {
    const { status, body } = await identity.call(anonymous, 'GET /status');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ok',
      protocol: 'acsp',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      agents_registered: expect.any(Number),
      uptime: expect.stringMatching(/^\d+[dhms]/),
    });
  });

  test('counts active agents, but not for every request', async () => {
    const clock = testClock();
    await using fresh = await startIdentity({ clock });
    const count = async () => (await fresh.call(anonymous, 'GET /status')).body.agents_registered;
    const [ann] = [await registered(fresh), await registered(fresh)];
    expect(await count()).toBe(2);
    await fresh.call(ann, 'POST /revoke', { aid: ann.aid });
    clock.advance(2_999);
    expect(await count()).toBe(2);
    clock.advance(1);
    expect(await count()).toBe(1);
  });
});

describe('auth/verify', () => {
  test('shows anybody the public key behind an AID', async () => {
    const { aid, publicKey } = await registered(identity);
    const answer = await identity.call(anonymous, `GET /auth/verify?aid=${aid}`);
    expect(answer).toMatchObject({ status: 200, body: { aid, ed25519_pubkey: publicKey } });
  });

  test('refuses an AID that is none, and one that nobody registered', async () => {
    expect(await identity.call(anonymous, 'GET /auth/verify')).toMatchObject(refused('INVALID_AID'));
    expect(await identity.call(anonymous, 'GET /auth/verify?aid=7')).toMatchObject(refused('INVALID_AID'));
    const unknown = await identity.call(anonymous, `GET /auth/verify?aid=${newcomer().aid}`);
    expect(unknown).toMatchObject(refused('AID_NOT_FOUND'));
  });
});
