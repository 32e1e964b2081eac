import { aidOf, sign, verify } from '@acsp/crypto';
import { anonymous, eventsOf, type Identity, refused, startIdentity, withLabels } from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const quickstart = (body: object) => identity.call(anonymous, 'POST /quickstart', body);
const detailed = { agent_name: 'Ann', capabilities: ['search'] };
const compact = { name: 'Ann', capabilities: 'search, summary' };

test('registers an agent with a key pair that belongs together', async () => {
  const { status, body } = await quickstart({ ...detailed, owner_id: 'o', endpoint: 'http://ann.example' });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    ...detailed,
    aid: aidOf(body.public_key),
    private_key: expect.stringMatching(/^[0-9a-f]{128}$/),
    login_key: expect.stringMatching(/^nk_/),
    login_key_expires: expect.stringMatching(/Z$/),
    warning: expect.stringContaining('private_key'),
  });
  const message = Buffer.from('hello');
  expect(verify(body.public_key, message, sign(body.private_key, message))).toBe(true);
  const known = await identity.call(anonymous, `GET /auth/verify?aid=${body.aid}`);
  expect(known.body).toEqual({ aid: body.aid, ed25519_pubkey: body.public_key });
  expect(await eventsOf(identity, body.aid)).toEqual(['agent.registered']);
});

test('takes the compact form and answers it alike', async () => {
  const [first, second] = [await quickstart(detailed), await quickstart(compact)];
  expect(second).toMatchObject({ status: 201, body: { agent_name: 'Ann', capabilities: ['search', 'summary'] } });
  expect(Object.keys(second.body)).toEqual(Object.keys(first.body));
  const known = await identity.call(anonymous, `GET /status?aid=${second.body.aid}`);
  expect(known.body.description).toBe('An agent that offers search and summary.');
});

test.each(
  withLabels([
    ['agent_name', undefined, 'MISSING_FIELDS'],
    ['agent_name', [], 'INVALID_NAME'],
    ['capabilities', null, 'MISSING_FIELDS'],
    ['capabilities', 'search', 'INVALID_CAPABILITIES'],
    ['description', 'x'.repeat(501), 'INVALID_FIELD'],
    ['endpoint', 'ann.example', 'INVALID_FIELD'],
    ['metadata', 7, 'INVALID_METADATA'],
  ]),
)('refuses %s %s with %s', async (field, _label, code, value) => {
  expect(await quickstart({ ...detailed, [field]: value })).toMatchObject(refused(code));
});

test.each(
  withLabels([
    ['name', 'x'.repeat(101), 'INVALID_NAME'],
    ['capabilities', undefined, 'MISSING_FIELDS'],
    ['capabilities', ['search'], 'INVALID_CAPABILITIES'],
    ['capabilities', 'x'.repeat(101), 'INVALID_CAPABILITIES'],
  ]),
)('refuses %s %s with %s in the compact form', async (field, _label, code, value) => {
  expect(await quickstart({ ...compact, [field]: value })).toMatchObject(refused(code));
});
