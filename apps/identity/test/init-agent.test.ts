import type { Agent } from '@acsp/operation';
import { testClock } from '@acsp/testkit';
import {
  anonymous,
  eventsOf,
  type Identity,
  newcomer,
  refused,
  registered,
  startIdentity,
  withLabels,
} from './harness.js';

const dayMs = 86_400_000;
const clock = testClock();
let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity({ clock });
});
afterAll(() => identity[Symbol.asyncDispose]());

const init = (agent: Agent, fields: object = {}) =>
  identity.call(agent, 'POST /agent-init', { aid: agent.aid, ...fields });
const expiriesOf = async (aid: string) => {
  const keys = await identity.context.database.prisma.loginKey.findMany({
    where: { aid },
    orderBy: { expires_at: 'asc' },
  });
  return keys.map(({ expires_at }) => expires_at.getTime());
};

test('gives a registered agent another login key of 90 days', async () => {
  const agent = await registered(identity);
  const { status, body } = await init(agent);
  expect(status).toBe(200);
  expect(body).toEqual({
    aid: agent.aid,
    agent_name: 'Ann',
    capabilities: ['search', 'summary'],
    login_key: expect.stringMatching(/^nk_[\w-]{43}$/),
    login_key_expires: new Date(clock.now().getTime() + 90 * dayMs).toISOString(),
  });
  expect(body.login_key).not.toBe(agent.loginKey);
  expect(await expiriesOf(agent.aid)).toHaveLength(2);
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered']);
});

test('brings capabilities and description up to date', async () => {
  const agent = await registered(identity);
  const changed = { capabilities: ['cooking'], description: 'Cooks' };
  expect((await init(agent, changed)).body).toMatchObject({ capabilities: ['cooking'] });
  expect((await identity.call(anonymous, `GET /status?aid=${agent.aid}`)).body).toMatchObject(changed);
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'agent.updated']);
});

test('drops the oldest of ten live keys for an eleventh', async () => {
  const agent = await registered(identity);
  for (let i = 0; i < 9; i += 1) {
    clock.advance(1_000);
    await init(agent);
  }
  const ten = await expiriesOf(agent.aid);
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered']);
  clock.advance(1_000);
  await init(agent);
  expect(await expiriesOf(agent.aid)).toEqual([...ten.slice(1), clock.now().getTime() + 90 * dayMs]);
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'login_key.dropped']);
});

test('clears away expired keys without a word', async () => {
  const agent = await registered(identity);
  clock.advance(90 * dayMs);
  await init(agent);
  expect(await expiriesOf(agent.aid)).toEqual([clock.now().getTime() + 90 * dayMs]);
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered']);
});

test('keeps at most ten keys, whatever comes at once', async () => {
  const agent = await registered(identity);
  const answers = await Promise.all(Array.from({ length: 12 }, () => init(agent)));
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(await expiriesOf(agent.aid)).toHaveLength(10);
  expect((await eventsOf(identity, agent.aid)).filter((type) => type === 'login_key.dropped')).toHaveLength(3);
});

test('refuses an agent that nobody registered', async () => {
  expect(await init(newcomer())).toMatchObject(refused('AID_NOT_FOUND'));
});

test('refuses a caller that nobody vouches for, and one that is another agent', async () => {
  const [ann, bob] = [await registered(identity), await registered(identity)];
  expect(await identity.call(anonymous, 'POST /agent-init', { aid: ann.aid })).toMatchObject(refused('AUTH_REQUIRED'));
  expect(await identity.call(bob, 'POST /agent-init', { aid: ann.aid })).toMatchObject(refused('AID_MISMATCH'));
  expect(await expiriesOf(ann.aid)).toHaveLength(1);
});

test('is meant by a body that names only a key', async () => {
  const agent = await registered(identity);
  const answer = await identity.call(agent, 'POST /agent-init', { public_key: agent.publicKey, agent_name: 'Ann' });
  expect(answer).toMatchObject(refused('MISSING_FIELDS'));
});

test.each(
  withLabels([
    ['aid', 'F'.repeat(50), 'INVALID_AID'],
    ['capabilities', [], 'INVALID_CAPABILITIES'],
    ['capabilities', 'cooking', 'INVALID_CAPABILITIES'],
    ['description', '', 'INVALID_FIELD'],
    ['description', 'x'.repeat(501), 'INVALID_FIELD'],
  ]),
)('refuses %s %s with %s', async (field, _label, code, value) => {
  const agent = await registered(identity);
  expect(await init(agent, { [field]: value })).toMatchObject(refused(code));
  expect(await expiriesOf(agent.aid)).toHaveLength(1);
});
