import { aidOf } from '@acsp/crypto';
import {
  anonymous,
  eventsOf,
  type Identity,
  type Newcomer,
  newcomer,
  profile,
  refused,
  register,
  startIdentity,
  withLabels,
} from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const compactly = (agent: Newcomer, fields: object = {}) =>
  identity.call(agent, 'POST /register', {
    aid: agent.aid,
    ed25519_pubkey: agent.publicKey,
    capabilities: 'search, summary',
    ...fields,
  });

test('registers an agent and gives it a login key of 90 days', async () => {
  const agent = newcomer();
  const before = Date.now();
  const extras = { owner_id: 'owner-1', endpoint: 'https://ann.example/hook', metadata: { lang: ['de', 'en'] } };
  const { status, body } = await register(identity, agent, extras);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    aid: agent.aid,
    agent_name: 'Ann',
    capabilities: ['search', 'summary'],
    status: 'active',
    login_key: expect.stringMatching(/^nk_[\w-]{43}$/),
  });
  const lifetimeMs = Date.parse(body.login_key_expires) - Date.parse(body.created_at);
  expect(lifetimeMs).toBe(90 * 86_400_000);
  expect(Date.parse(body.created_at)).toBeGreaterThanOrEqual(before);
  const known = await identity.call(anonymous, `GET /status?aid=${agent.aid}`);
  expect(known.body).toMatchObject({ ...profile, endpoint: extras.endpoint, metadata: extras.metadata, region_id: 7 });
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered']);
});

test('stores no login key, only its hash', async () => {
  const { body } = await register(identity, newcomer());
  const [row] = await identity.context.database.prisma.loginKey.findMany({ where: { aid: body.aid } });
  expect(row?.hash).toHaveLength(32);
  expect(Buffer.from(row?.hash ?? []).toString('utf8')).not.toContain(body.login_key);
});

test('takes the compact form and fills in what it lacks', async () => {
  const agent = newcomer();
  const { status, body } = await compactly(agent);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    aid: agent.aid,
    agent_name: `agent-${agent.aid.slice(0, 8)}`,
    capabilities: ['search', 'summary'],
    status: 'active',
  });
  const known = await identity.call(anonymous, `GET /status?aid=${agent.aid}`);
  expect(known.body.description).toBe('An agent that offers search and summary.');
});

test.each([
  ['search, deep research ,,search', ['search', 'deep research']],
  ['search  deep\nresearch search', ['search', 'deep', 'research']],
])('splits the compact capabilities %j', async (given, capabilities) => {
  expect((await compactly(newcomer(), { capabilities: given })).body).toMatchObject({ capabilities });
});

test('takes the compact form with a name and a description', async () => {
  const agent = newcomer();
  await compactly(agent, { agent_name: 'Bob', description: 'Writes' });
  const known = await identity.call(anonymous, `GET /status?aid=${agent.aid}`);
  expect(known.body).toMatchObject({ agent_name: 'Bob', description: 'Writes' });
});

test('knows a key in capital letters as the same key', async () => {
  const agent = newcomer();
  expect(await register(identity, agent, { public_key: agent.publicKey.toUpperCase() })).toMatchObject({ status: 201 });
  expect(await register(identity, agent)).toMatchObject(refused('AID_EXISTS'));
});

test('refuses a second registration', async () => {
  const agent = newcomer();
  await register(identity, agent);
  expect(await register(identity, agent, { agent_name: 'Other' })).toMatchObject(refused('AID_EXISTS'));
  expect(await compactly(agent)).toMatchObject(refused('AID_EXISTS'));
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered']);
});

test('lets one of several registrations of a key at once win', async () => {
  const agent = newcomer();
  const answers = await Promise.all(Array.from({ length: 8 }, () => register(identity, agent)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered']);
  expect(await identity.context.database.prisma.loginKey.count({ where: { aid: agent.aid } })).toBe(1);
});

test('refuses an AID that is not that of the key', async () => {
  const [ann, bob] = [newcomer(), newcomer()];
  expect(await register(identity, ann, { aid: bob.aid })).toMatchObject(refused('INVALID_AID'));
  expect(await compactly(ann, { aid: bob.aid })).toMatchObject(refused('INVALID_AID'));
});

test('refuses a key that did not sign the request', async () => {
  const [ann, bob] = [newcomer(), newcomer()];
  expect(await register(identity, ann, { public_key: bob.publicKey })).toMatchObject(refused('INVALID_AID'));
  expect(await identity.call(anonymous, `GET /status?aid=${bob.aid}`)).toMatchObject({ status: 404 });
});

test('refuses a key for which anybody can sign', async () => {
  const weak = '01'.padEnd(64, '0');
  const caller = { ...newcomer(), aid: aidOf(weak), publicKey: weak };
  expect(await register(identity, caller)).toMatchObject(refused('INVALID_PUBLIC_KEY'));
});

test('refuses a caller that nobody vouches for', async () => {
  const agent = newcomer();
  expect(await identity.call(undefined, 'POST /register', {})).toMatchObject(refused('AUTH_REQUIRED'));
  const body = { public_key: agent.publicKey, ...profile };
  expect(await identity.call(anonymous, 'POST /register', body)).toMatchObject(refused('AUTH_REQUIRED'));
});

const tooMany = Array.from({ length: 51 }, (_, i) => `c${i}`);

test.each(
  withLabels([
    ['public_key', undefined, 'MISSING_FIELDS'],
    ['public_key', null, 'MISSING_FIELDS'],
    ['public_key', 'ab', 'INVALID_PUBLIC_KEY'],
    ['public_key', 7, 'INVALID_PUBLIC_KEY'],
    ['agent_name', undefined, 'MISSING_FIELDS'],
    ['agent_name', '', 'INVALID_NAME'],
    ['agent_name', 'x'.repeat(101), 'INVALID_NAME'],
    ['agent_name', 'nul\0', 'INVALID_NAME'],
    ['agent_name', '\ud800', 'INVALID_NAME'],
    ['capabilities', undefined, 'MISSING_FIELDS'],
    ['capabilities', [], 'INVALID_CAPABILITIES'],
    ['capabilities', 'search', 'INVALID_CAPABILITIES'],
    ['capabilities', tooMany, 'INVALID_CAPABILITIES'],
    ['capabilities', ['x'.repeat(101)], 'INVALID_CAPABILITIES'],
    ['capabilities', ['ok', null], 'INVALID_CAPABILITIES'],
    ['description', undefined, 'MISSING_FIELDS'],
    ['description', ' ', 'INVALID_FIELD'],
    ['description', 'x'.repeat(501), 'INVALID_FIELD'],
    ['owner_id', 'x'.repeat(129), 'INVALID_FIELD'],
    ['owner_id', '', 'INVALID_FIELD'],
    ['endpoint', 'ftp://ann.example', 'INVALID_FIELD'],
    ['endpoint', `https://${'x'.repeat(2048)}`, 'INVALID_FIELD'],
    ['metadata', 'text', 'INVALID_METADATA'],
    ['metadata', [], 'INVALID_METADATA'],
    ['metadata', { text: 'x'.repeat(4086) }, 'INVALID_METADATA'],
  ]),
)('refuses %s %s with %s', async (field, _label, code, value) => {
  const answer = await register(identity, newcomer(), { [field]: value });
  expect(answer).toMatchObject(refused(code));
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.body.errors[0].field.split('.')[0]).toBe(field);
});

test.each(
  withLabels([
    ['aid', undefined, 'MISSING_FIELDS'],
    ['aid', 'F'.repeat(50), 'INVALID_AID'],
    ['ed25519_pubkey', 'zz', 'INVALID_PUBLIC_KEY'],
    ['capabilities', undefined, 'MISSING_FIELDS'],
    ['capabilities', ' , ,', 'INVALID_CAPABILITIES'],
    ['capabilities', ['search'], 'INVALID_CAPABILITIES'],
    ['capabilities', tooMany.join(','), 'INVALID_CAPABILITIES'],
    ['description', 'x'.repeat(501), 'INVALID_FIELD'],
  ]),
)('refuses %s %s with %s in the compact form', async (field, _label, code, value) => {
  expect(await compactly(newcomer(), { [field]: value })).toMatchObject(refused(code));
});

test('takes every field at its limit', async () => {
  const answer = await register(identity, newcomer(), {
    agent_name: '\u{1f600}'.repeat(100),
    capabilities: Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(100, 'x')),
    description: 'x'.repeat(500),
    owner_id: 'x'.repeat(128),
    endpoint: `https://ann.example/${'x'.repeat(2028)}`,
    metadata: { text: 'x'.repeat(4085) },
  });
  expect(answer).toMatchObject({ status: 201 });
});

test('keeps text to the letter', async () => {
  const agent = newcomer();
  const description = '  <b>Vec<String></b> & "R&D" \u{1f600} ';
  await register(identity, agent, { description });
  const { body } = await identity.call(anonymous, `GET /status?aid=${agent.aid}`);
  expect(body.description).toBe(description);
});
