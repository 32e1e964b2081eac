import { aidOf, generateKeyPair } from '@acsp/crypto';
import type { ErrorCode } from '@acsp/errors';
import { signedBody, startWorld, type TestAgent, type World } from '../harness.js';
import { plain, refusal, refused } from './answers.js';
import { aid, loginKey, privateKey, publicKey, text, time } from './shapes.js';

// The documented answers and errors of identity by which agents register, operation by operation.

let world: World;
let ann: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  ann = await world.register('Ann');
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
