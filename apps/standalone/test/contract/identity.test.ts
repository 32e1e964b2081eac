import { aidOf, generateKeyPair } from '@acsp/crypto';
import type { ErrorCode } from '@acsp/errors';
import { signedBody, startWorld, stranger, type TestAgent, type World } from '../harness.js';
import { plain, refusal, refused } from './answers.js';
import { aid, loginKey, number, privateKey, publicKey, text, time } from './shapes.js';

// The documented answers and errors of identity, operation by operation.

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
const profile = { agent_name: 'Cleo', capabilities: ['counting', 'stones'], description: 'Counts stones' };
const newcomer = () => {
  const keys = generateKeyPair();
  return { ...keys, aid: aidOf(keys.publicKey) };
};

describe('POST /register', () => {
  const registered = { status: 'active', created_at: time, login_key: loginKey, login_key_expires: time };

  test('answers 201 in the detailed form', async () => {
    const { aid, publicKey: public_key, ...keys } = newcomer();
    const fields = { public_key, ...profile, owner_id: 'me', endpoint: 'https://example.com/hook', metadata: { a: 1 } };
    const { status, body } = await world.callSigned(keys, 'POST /register', fields);
    expect({ status, body }).toEqual({
      status: 201,
      body: { aid, agent_name: 'Cleo', capabilities: profile.capabilities, ...registered },
    });
    const days = (Date.parse(body.login_key_expires) - Date.parse(body.created_at)) / 86_400_000;
    expect(days).toBe(90);
  });

  test('answers 201 in the compact form, with a name and a description of its own making', async () => {
    const { aid, publicKey: ed25519_pubkey, ...keys } = newcomer();
    const { status, body } = await world.callSigned(keys, 'POST /register', {
      aid,
      ed25519_pubkey,
      capabilities: 'counting, stones,counting',
    });
    expect({ status, body }).toEqual({
      status: 201,
      body: { aid, agent_name: `agent-${aid.slice(0, 8)}`, capabilities: ['counting', 'stones'], ...registered },
    });
    expect((await world.send(`GET /status?aid=${aid}`)).body.description).toContain('counting');
  });

  test('takes the signature in X-Signature, over the whole body', async () => {
    const { publicKey: public_key, ...keys } = newcomer();
    const body = JSON.stringify({ public_key, ...profile, timestamp: minutesAgo(0) });
    const { signature } = JSON.parse(signedBody(keys, JSON.parse(body)));
    expect((await world.send('POST /register', { body, headers: { 'x-signature': signature } })).status).toBe(201);
  });

  const faults: [code: ErrorCode, change: object][] = [
    ['INVALID_PUBLIC_KEY', { public_key: 'zz' }],
    // A point of small order: signatures by it prove nothing.
    ['INVALID_PUBLIC_KEY', { public_key: '00'.repeat(32) }],
    ['MISSING_FIELDS', { agent_name: undefined }],
    ['MISSING_FIELDS', { description: null }],
    ['MISSING_FIELDS', { public_key: undefined }],
    ['INVALID_NAME', { agent_name: '' }],
    ['INVALID_CAPABILITIES', { capabilities: [] }],
    ['INVALID_CAPABILITIES', { capabilities: 'counting' }],
    ['INVALID_CAPABILITIES', { capabilities: Array.from({ length: 51 }, (_, i) => `c${i}`) }],
    ['INVALID_METADATA', { metadata: [] }],
    ['INVALID_TIMESTAMP', { timestamp: undefined }],
    ['INVALID_TIMESTAMP', { timestamp: 'noon' }],
    ['INVALID_TIMESTAMP', { timestamp: minutesAgo(6) }],
    ['INVALID_TIMESTAMP', { timestamp: minutesAgo(-6) }],
    ['INVALID_AID', { aid: 'f'.repeat(50) }],
  ];

  test.each(faults)('refuses with %s where it is %j', async (code, change) => {
    const { publicKey: public_key, ...keys } = newcomer();
    expect(refusal(await world.callSigned(keys, 'POST /register', { public_key, ...profile, ...change }))).toEqual(
      refused(code),
    );
  });

  test('refuses a wrong signature, none, and one that was used', async () => {
    const { publicKey: public_key, ...keys } = newcomer();
    const fields = { public_key, ...profile, timestamp: minutesAgo(0) };
    expect(refusal(await world.callSigned(newcomer(), 'POST /register', fields))).toEqual(refused('INVALID_SIGNATURE'));
    expect(refusal(await post('register', fields))).toEqual(refused('MISSING_FIELDS'));
    const body = signedBody(keys, fields);
    expect((await world.send('POST /register', { body })).status).toBe(201);
    expect(refusal(await world.send('POST /register', { body }))).toEqual(refused('INVALID_SIGNATURE'));
  });

  test('refuses a key that is registered', async () => {
    const fields = { public_key: ann.publicKey, ...profile };
    expect(refusal(await world.callSigned(ann, 'POST /register', fields))).toEqual(refused('AID_EXISTS'));
  });
});

describe('POST /agent-init', () => {
  test('answers a registered agent with a new login key, and updates its profile on the way', async () => {
    const agent = await world.register('Dora');
    const change = { capabilities: ['dancing'], description: 'Dances' };
    const { status, body } = await world.callSigned(agent, 'POST /agent-init', {
      aid: agent.aid,
      public_key: agent.publicKey,
      ...change,
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        aid: agent.aid,
        login_key: loginKey,
        login_key_expires: time,
        agent_name: 'Dora',
        capabilities: ['dancing'],
      },
    });
    expect((await world.call({ ...agent, loginKey: body.login_key }, 'GET /tasks')).status).toBe(200);
    expect((await world.send(`GET /status?aid=${agent.aid}`)).body).toMatchObject(change);
  });

  test('registers a new agent in the form without a key', async () => {
    const fields = { agent_name: 'Emil', capabilities: ['singing'], description: 'Sings', metadata: { voice: 'bass' } };
    const { status, body } = await post('agent-init', fields);
    const expected = {
      ...fields,
      aid,
      login_key: loginKey,
      login_key_expires: time,
      dashboard_url: text,
      agent_link: text,
    };
    expect({ status, body }).toEqual({ status: 201, body: { ...expected, curl_examples: expect.any(Object) } });
    for (const command of Object.values(body.curl_examples)) expect(command).toMatch(/^curl /);
  });

  const faults: [code: ErrorCode, change: object][] = [
    ['INVALID_AID', { aid: 'x' }],
    ['INVALID_PUBLIC_KEY', { public_key: 'x' }],
    ['KEY_MISMATCH', { public_key: generateKeyPair().publicKey }],
    ['AID_NOT_FOUND', { aid: 'f'.repeat(50) }],
    ['INVALID_TIMESTAMP', { timestamp: minutesAgo(6) }],
    ['INVALID_SIGNATURE', { signature: '0'.repeat(128) }],
    ['MISSING_FIELDS', { signature: null }],
    ['MISSING_FIELDS', { aid: undefined }],
    ['INVALID_CAPABILITIES', { capabilities: [] }],
  ];

  test.each(faults)('refuses with %s where it is %j', async (code, change) => {
    const fields = { aid: ann.aid, public_key: ann.publicKey, timestamp: minutesAgo(0), ...change };
    const answer =
      'signature' in change
        ? await post('agent-init', fields)
        : await world.callSigned(ann, 'POST /agent-init', fields);
    expect(refusal(answer)).toEqual(refused(code));
  });
});

describe('POST /quickstart', () => {
  const made = {
    aid,
    public_key: publicKey,
    private_key: privateKey,
    login_key: loginKey,
    login_key_expires: time,
    warning: text,
  };

  test('answers 201 in both forms', async () => {
    const detailed = await post('quickstart', {
      agent_name: 'Finn',
      capabilities: ['fishing'],
      owner_id: 'me',
      endpoint: 'https://example.com',
      metadata: {},
    });
    expect(plain(detailed)).toEqual({
      status: 201,
      body: { ...made, agent_name: 'Finn', capabilities: ['fishing'] },
    });
    const compact = await post('quickstart', { name: 'Finn', capabilities: 'fishing nets' });
    expect(plain(compact)).toEqual({
      status: 201,
      body: { ...made, agent_name: 'Finn', capabilities: ['fishing', 'nets'] },
    });
  });

  test('makes a key pair that belongs together and to the AID', async () => {
    const { body } = await post('quickstart', { name: 'Gero', capabilities: 'gardening' });
    expect(body.aid).toBe(aidOf(body.public_key));
    expect(body.private_key.slice(64)).toBe(body.public_key);
    const fields = { aid: body.aid, public_key: body.public_key };
    expect((await world.callSigned({ privateKey: body.private_key }, 'POST /agent-init', fields)).status).toBe(200);
  });

  const faults: [code: ErrorCode, body: object][] = [
    ['MISSING_FIELDS', {}],
    ['MISSING_FIELDS', { agent_name: 'Finn' }],
    ['INVALID_NAME', { name: 'x'.repeat(101), capabilities: 'fishing' }],
    ['INVALID_CAPABILITIES', { name: 'Finn', capabilities: ' , ' }],
    ['INVALID_FIELD', { agent_name: 'Finn', capabilities: ['fishing'], endpoint: 'not a URL' }],
  ];

  test.each(faults)('refuses with %s %j', async (code, body) => {
    expect(refusal(await post('quickstart', body))).toEqual(refused(code));
  });
});

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
