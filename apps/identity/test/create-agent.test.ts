import { anonymous, eventsOf, type Identity, publicUrl, refused, startIdentity, withLabels } from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const create = (fields: object = {}) =>
  identity.call(anonymous, 'POST /agent-init', { agent_name: 'Ann', capabilities: ['search'], ...fields });

test('registers an agent that has no key pair', async () => {
  const { status, body } = await create({ description: 'Finds', metadata: { a: 1 } });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    aid: expect.stringMatching(/^[0-9a-f]{50}$/),
    agent_name: 'Ann',
    capabilities: ['search'],
    description: 'Finds',
    metadata: { a: 1 },
    login_key: expect.stringMatching(/^nk_/),
    dashboard_url: `${publicUrl}/dashboard`,
    agent_link: `${publicUrl}/api/acsp/status?aid=${body.aid}`,
  });
  expect(body).not.toHaveProperty('private_key');
  expect(await identity.call(anonymous, `GET /status?aid=${body.aid}`)).toMatchObject({ status: 200 });
  expect(await eventsOf(identity, body.aid)).toEqual(['agent.registered']);
});

test('describes an agent by its capabilities where it does not itself', async () => {
  expect((await create()).body).toMatchObject({ description: 'An agent that offers search.', metadata: {} });
});

test('shows command lines that a shell can run as they are', async () => {
  const { body } = await create({ agent_name: `O'Neill "$(id)"` });
  const lines = Object.values(body.curl_examples as Record<string, string>);
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) {
    const words: string[] = line.match(/'[^']*'|[^\s']+/g) ?? [];
    expect(words.join(' ')).toBe(line);
    expect(words[0]).toBe('curl');
    const url = words.at(-1)?.replaceAll("'", '') ?? '';
    expect(url.startsWith(`${publicUrl}/api/acsp/`)).toBe(true);
    if (words.includes('-d')) JSON.parse((words[words.indexOf('-d') + 1] ?? '').slice(1, -1));
  }
  expect(lines.join()).toContain(`Authorization: Bearer ${body.login_key}`);
});

test('makes another agent each time', async () => {
  const [first, second] = [await create(), await create()];
  expect(first.body.aid).not.toBe(second.body.aid);
});

test.each(
  withLabels([
    ['agent_name', undefined, 'MISSING_FIELDS'],
    ['agent_name', null, 'MISSING_FIELDS'],
    ['agent_name', 5, 'INVALID_NAME'],
    ['agent_name', 'x'.repeat(101), 'INVALID_NAME'],
    ['capabilities', undefined, 'MISSING_FIELDS'],
    ['capabilities', 'search', 'INVALID_CAPABILITIES'],
    ['description', 'x'.repeat(1001), 'INVALID_FIELD'],
    ['metadata', { text: 'x'.repeat(4086) }, 'INVALID_METADATA'],
    ['metadata', { nul: '\0' }, 'INVALID_METADATA'],
  ]),
)('refuses %s %s with %s', async (field, _label, code, value) => {
  expect(await create({ [field]: value })).toMatchObject(refused(code));
});

test('takes a description of a thousand characters', async () => {
  expect(await create({ description: 'x'.repeat(1000) })).toMatchObject({ status: 201 });
});

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.each([
  ['17 levels', nested(17)],
  ['10,000 levels', nested(10_000)],
  ['a member __proto__', '{"__proto__":{"polluted":true}}'],
])('refuses metadata with %s', async (_name, metadata) => {
  const { prisma } = identity.context.database;
  const before = await prisma.agent.count();
  const body = `{"agent_name":"Ann","capabilities":["search"],"metadata":${metadata}}`;
  expect(await identity.call(anonymous, 'POST /agent-init', body)).toMatchObject(refused('INVALID_METADATA'));
  expect(await prisma.agent.count()).toBe(before);
});
