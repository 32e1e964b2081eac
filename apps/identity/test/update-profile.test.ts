import type { Agent } from '@acsp/operation';
import {
  anonymous,
  eventsOf,
  type Identity,
  newcomer,
  profile,
  refused,
  registered,
  startIdentity,
  withLabels,
} from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const update = (agent: Agent, fields: object = {}) =>
  identity.call(agent, 'POST /profile/update', { aid: agent.aid, ...fields });
const known = async ({ aid }: Agent) => (await identity.call(anonymous, `GET /status?aid=${aid}`)).body;

test('changes every field and names them in the order of the interface', async () => {
  const agent = await registered(identity);
  const fields = {
    metadata: { a: 1 },
    endpoint: 'https://new.example',
    description: 'New',
    capabilities: ['new'],
    agent_name: 'New',
  };
  const { status, body } = await update(agent, fields);
  expect(status).toBe(200);
  const { endpoint, ...shown } = fields;
  expect(body).toEqual({
    updated: true,
    aid: agent.aid,
    fields_updated: ['agent_name', 'capabilities', 'description', 'endpoint', 'metadata'],
    agent: { aid: agent.aid, ...shown },
  });
  expect(await known(agent)).toMatchObject({ ...shown, endpoint });
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'agent.updated']);
});

test('leaves alone what is not given', async () => {
  const agent = await registered(identity, { endpoint: 'https://ann.example', metadata: { a: 1 } });
  expect((await update(agent, { description: 'New', endpoint: null })).body.fields_updated).toEqual(['description']);
  expect(await known(agent)).toMatchObject({
    ...profile,
    description: 'New',
    endpoint: 'https://ann.example',
    metadata: { a: 1 },
  });
});

test('merges metadata member by member', async () => {
  const agent = await registered(identity, { metadata: { a: { deep: 1 }, b: 2 } });
  const { body } = await update(agent, { metadata: { a: { other: 1 }, c: null } });
  expect(body.agent.metadata).toEqual({ a: { other: 1 }, b: 2, c: null });
});

test('keeps the metadata of updates that come at once', async () => {
  const agent = await registered(identity);
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => update(agent, { metadata: { [`m${i}`]: i } })));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(Object.keys((await known(agent)).metadata).sort()).toEqual(Array.from({ length: 8 }, (_, i) => `m${i}`));
});

test('holds the merged metadata to its limit', async () => {
  const agent = await registered(identity, { metadata: { a: 'x'.repeat(2000) } });
  const room = 4096 - JSON.stringify({ a: 'x'.repeat(2000), b: '' }).length;
  expect(await update(agent, { metadata: { b: 'x'.repeat(room + 1) } })).toMatchObject(refused('INVALID_METADATA'));
  expect((await known(agent)).metadata).not.toHaveProperty('b');
  expect(await update(agent, { metadata: { b: 'x'.repeat(room) } })).toMatchObject({ status: 200 });
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'agent.updated']);
});

test('clears the endpoint when it is empty', async () => {
  const agent = await registered(identity, { endpoint: 'https://ann.example' });
  expect((await update(agent, { endpoint: '' })).body.fields_updated).toEqual(['endpoint']);
  expect((await known(agent)).endpoint).toBeNull();
});

test('refuses an update of nothing', async () => {
  const agent = await registered(identity);
  const nothing = await update(agent);
  expect(nothing).toMatchObject(refused('NO_FIELDS'));
  expect(nothing.body).not.toHaveProperty('errors');
  expect(await update(agent, { agent_name: null, owner_id: 'other' })).toMatchObject(refused('NO_FIELDS'));
});

test('refuses a caller that nobody vouches for, one that is another agent, and one that is unknown', async () => {
  const [ann, bob] = [await registered(identity), await registered(identity)];
  const body = { aid: ann.aid, description: 'Mine now' };
  expect(await identity.call(anonymous, 'POST /profile/update', body)).toMatchObject(refused('AUTH_REQUIRED'));
  expect(await identity.call(bob, 'POST /profile/update', body)).toMatchObject(refused('AID_MISMATCH'));
  expect(await update(newcomer(), { description: 'Who?' })).toMatchObject(refused('AID_NOT_FOUND'));
  expect(await known(ann)).toMatchObject(profile);
});

test.each(
  withLabels([
    ['aid', undefined, 'INVALID_AID'],
    ['aid', 'x', 'INVALID_AID'],
    ['agent_name', '', 'INVALID_NAME'],
    ['agent_name', 'x'.repeat(101), 'INVALID_NAME'],
    ['capabilities', [], 'INVALID_CAPABILITIES'],
    ['capabilities', 'a,b', 'INVALID_CAPABILITIES'],
    ['description', 'x'.repeat(1001), 'INVALID_FIELD'],
    ['endpoint', 'javascript:alert(1)', 'INVALID_FIELD'],
    ['endpoint', 5, 'INVALID_FIELD'],
    ['metadata', 'x', 'INVALID_METADATA'],
  ]),
)('refuses %s %s with %s and changes nothing', async (field, _label, code, value) => {
  const agent = await registered(identity);
  expect(await update(agent, { description: 'New', [field]: value })).toMatchObject(refused(code));
  expect(await known(agent)).toMatchObject(profile);
});

test('takes a description of a thousand characters', async () => {
  expect(await update(await registered(identity), { description: 'x'.repeat(1000) })).toMatchObject({ status: 200 });
});
