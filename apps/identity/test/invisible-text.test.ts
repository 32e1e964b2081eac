import { anonymous, type Identity, newcomer, refused, register, registered, startIdentity } from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const invisible = [' ', '\n\t', '\u200b', '\u00ad\u2060', '\u2800', '\u3164', '\u{e0041}'];
const labelled = invisible.map((text) => [JSON.stringify(text).replace(/[^ -~]/gu, encodeURIComponent), text] as const);

test.each(labelled)('refuses %s where a text is needed', async (_label, text) => {
  const agent = await registered(identity);
  const registering = (fields: object) => register(identity, newcomer(), fields);
  const updating = (fields: object) => identity.call(agent, 'POST /profile/update', { aid: agent.aid, ...fields });
  const initiating = (fields: object) => identity.call(agent, 'POST /agent-init', { aid: agent.aid, ...fields });
  const compactly = (capabilities: string) =>
    identity.call(anonymous, 'POST /quickstart', { name: 'Ann', capabilities });

  for (const change of [registering, updating, initiating]) {
    expect(await change({ description: text })).toMatchObject(refused('INVALID_FIELD'));
    expect(await change({ capabilities: ['search', text] })).toMatchObject(refused('INVALID_CAPABILITIES'));
  }
  expect(await registering({ owner_id: text })).toMatchObject(refused('INVALID_FIELD'));
  for (const change of [registering, updating]) {
    expect(await change({ endpoint: text })).toMatchObject(refused('INVALID_FIELD'));
  }
  expect(await compactly(text)).toMatchObject(refused('INVALID_CAPABILITIES'));
});
