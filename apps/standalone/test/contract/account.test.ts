import { generateKeyPair } from '@acsp/crypto';
import type { ErrorCode } from '@acsp/errors';
import { startWorld, stranger, type TestAgent, type World } from '../harness.js';
import { plain, refusal, refused } from './answers.js';
import { loginKey, number, text, time } from './shapes.js';

// The documented answers and errors of identity for agents that are registered, operation by operation.

let world: World;
let ann: TestAgent;
let bob: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  [ann, bob] = [await world.register('Ann'), await world.quickstart('Bob')];
});
afterAll(() => world[Symbol.asyncDispose]());

const post = (path: string, body: object) => world.send(`POST /${path}`, { body: JSON.stringify(body) });
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
describe('POST /profile/update', () => {
  test('changes what is given, merges metadata, and answers with both', async () => {
    const agent = await world.quickstart('Hedi');
    await world.call(agent, 'POST /profile/update', { aid: agent.aid, metadata: { kept: 1, changed: 1 } });
    const change = { agent_name: 'Hedwig', metadata: { changed: 2 } };
    const { status, body } = await world.call(agent, 'POST /profile/update', { aid: agent.aid, ...change });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        updated: true,
        aid: agent.aid,
        fields_updated: ['agent_name', 'metadata'],
        agent: {
          aid: agent.aid,
          agent_name: 'Hedwig',
          capabilities: ['testing'],
          description: text,
          metadata: { kept: 1, changed: 2 },
        },
      },
    });
  });

  const faults: [code: ErrorCode, body: object][] = [
    ['NO_FIELDS', {}],
    ['INVALID_AID', { aid: 'x', agent_name: 'Bob' }],
    ['AID_MISMATCH', { aid: 'f'.repeat(50), agent_name: 'Bob' }],
    ['INVALID_METADATA', { metadata: { big: 'x'.repeat(4096) } }],
  ];

  test.each(faults)('refuses with %s where it is %j', async (code, change) => {
    expect(refusal(await world.call(bob, 'POST /profile/update', { aid: bob.aid, ...change }))).toEqual(refused(code));
  });

  test('refuses a caller without a key, or with a wrong one', async () => {
    const change = { aid: bob.aid, agent_name: 'Bob' };
    expect(refusal(await post('profile/update', change))).toEqual(refused('AUTH_REQUIRED'));
    expect(refusal(await world.call({ ...bob, loginKey: 'nk_wrong' }, 'POST /profile/update', change))).toEqual(
      refused('INVALID_LOGIN_KEY'),
    );
  });
});

describe('POST /revoke', () => {
  test('ends an agent for good', async () => {
    const agent = await world.register('Ida');
    const { status, body } = await world.callSigned(agent, 'POST /revoke', {
      aid: agent.aid,
      public_key: agent.publicKey,
    });
    expect({ status, body }).toEqual({ status: 200, body: { revoked: true, aid: agent.aid } });
    expect(refusal(await world.send(`GET /status?aid=${agent.aid}`))).toEqual(refused('AID_NOT_FOUND'));
    expect(refusal(await world.send(`GET /auth/verify?aid=${agent.aid}`))).toEqual(refused('AID_NOT_FOUND'));
  });

  const faults: [code: ErrorCode, change: object][] = [
    ['INVALID_AID', { aid: 'x' }],
    ['INVALID_PUBLIC_KEY', { public_key: undefined }],
    ['KEY_MISMATCH', { public_key: generateKeyPair().publicKey }],
    ['AID_NOT_FOUND', { aid: 'f'.repeat(50) }],
    ['INVALID_TIMESTAMP', { timestamp: minutesAgo(6) }],
    ['INVALID_SIGNATURE', { signature: '0'.repeat(128) }],
    ['AUTH_REQUIRED', { signature: null }],
  ];

  test.each(faults)('refuses with %s where it is %j', async (code, change) => {
    const fields = { aid: ann.aid, public_key: ann.publicKey, timestamp: minutesAgo(0), ...change };
    const answer =
      'signature' in change ? await post('revoke', fields) : await world.callSigned(ann, 'POST /revoke', fields);
    expect(refusal(answer)).toEqual(refused(code));
  });
});

describe('POST /account-delete', () => {
  test('removes an agent, once', async () => {
    const agent = await world.quickstart('Jan');
    const { status, body } = await world.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true });
    expect({ status, body }).toEqual({ status: 200, body: { deleted: true, aid: agent.aid, message: text } });
    expect(refusal(await world.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true }))).toEqual(
      refused('AID_NOT_FOUND'),
    );
  });

  test('checks header, confirm, form, existence and key, in this order', async () => {
    const nobody = stranger();
    const order: [ErrorCode, TestAgent | undefined, object][] = [
      ['AUTH_REQUIRED', undefined, {}],
      ['CONFIRM_REQUIRED', bob, { aid: 'x' }],
      ['CONFIRM_REQUIRED', bob, { aid: 'x', confirm: 'true' }],
      ['INVALID_AID', bob, { aid: 'x', confirm: true }],
      ['AID_NOT_FOUND', bob, { aid: nobody.aid, confirm: true }],
      ['INVALID_AUTH', bob, { aid: ann.aid, confirm: true }],
      ['INVALID_AUTH', { ...bob, loginKey: 'nk_wrong' }, { aid: bob.aid, confirm: true }],
    ];
    for (const [code, caller, body] of order)
      expect(refusal(await world.call(caller, 'POST /account-delete', body))).toEqual(refused(code));
  });
});

describe('GET /status', () => {
  test('tells of the service', async () => {
    const { status, body } = await world.send('GET /status');
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'ok',
        protocol: 'acsp',
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        agents_registered: number,
        uptime: text,
      },
    });
  });

  test('tells of an agent', async () => {
    const { status, body } = await world.send(`GET /status?aid=${ann.aid}`);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        aid: ann.aid,
        agent_name: 'Ann',
        capabilities: ['testing'],
        description: text,
        metadata: {},
        endpoint: null,
        status: 'active',
        created_at: time,
        budget_remaining: 10,
        region_id: 0,
        presence: { status: 'offline', last_seen: null },
        attestations: { count: 0, average_score: null, average_rating: null },
      },
    });
  });

  test('refuses an AID that is none, or unknown', async () => {
    expect(refusal(await world.send('GET /status?aid=x'))).toEqual(refused('INVALID_AID'));
    expect(refusal(await world.send(`GET /status?aid=${stranger().aid}`))).toEqual(refused('AID_NOT_FOUND'));
  });
});

test('POST /connect makes a link that GET /connect/{token} redeems once, for a login key of a day', async () => {
  const made = await world.call(bob, 'POST /connect', { aid: bob.aid });
  expect(plain(made)).toEqual({
    status: 201,
    body: { token: text, connect_url: expect.stringContaining(made.body.token), expires_at: time },
  });
  const minutes = (Date.parse(made.body.expires_at) - Date.now()) / 60_000;
  expect(Math.round(minutes)).toBe(10);
  const redeemed = await world.send(`GET /connect/${made.body.token}`);
  expect(plain(redeemed)).toEqual({
    status: 200,
    body: { aid: bob.aid, agent_name: 'Bob', login_key: loginKey, login_key_expires: time },
  });
  expect(Math.round((Date.parse(redeemed.body.login_key_expires) - Date.now()) / 3_600_000)).toBe(24);
  expect((await world.call({ ...bob, loginKey: redeemed.body.login_key }, 'GET /tasks')).status).toBe(200);
  expect(refusal(await world.send(`GET /connect/${made.body.token}`))).toEqual(refused('CONNECT_TOKEN_INVALID'));
});

test('POST /connect takes the login key in the body, and only the caller’s own AID', async () => {
  expect((await post('connect', { aid: bob.aid, login_key: bob.loginKey })).status).toBe(201);
  expect(refusal(await post('connect', { aid: bob.aid }))).toEqual(refused('AUTH_REQUIRED'));
  expect(refusal(await post('connect', { aid: bob.aid, login_key: 'nk_wrong' }))).toEqual(refused('INVALID_LOGIN_KEY'));
  expect(refusal(await post('connect', { aid: ann.aid, login_key: bob.loginKey }))).toEqual(refused('AID_MISMATCH'));
});

test('GET /auth/verify answers an agent’s public key', async () => {
  const { status, body } = await world.send(`GET /auth/verify?aid=${ann.aid}`);
  expect({ status, body }).toEqual({ status: 200, body: { aid: ann.aid, ed25519_pubkey: ann.publicKey } });
  expect(refusal(await world.send('GET /auth/verify'))).toEqual(refused('INVALID_AID'));
  expect(refusal(await world.send(`GET /auth/verify?aid=${stranger().aid}`))).toEqual(refused('AID_NOT_FOUND'));
});
