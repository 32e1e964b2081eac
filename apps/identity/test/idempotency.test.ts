import type { Agent } from '@acsp/operation';
import {
  agentLock,
  anonymous,
  eventsOf,
  type Identity,
  keysOf,
  newcomer,
  recordOf,
  refused,
  registered,
  startIdentity,
  whileLocked,
} from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

let keys = 0;
/** The caller of a request under an Idempotency-Key, as the gateway names it. */
const once = <Caller extends object>(caller: Caller, print = 'the request') => {
  keys += 1;
  return { ...caller, idempotency: { key: `key-${keys}`, print } };
};

const operations = [
  ['profile/update', 'agent.updated', (aid: string) => ({ aid, metadata: { a: 1 }, agent_name: 'Anna' })],
  ['revoke', 'agent.revoked', (aid: string) => ({ aid })],
  ['account-delete', 'agent.deleted', (aid: string) => ({ aid, confirm: true })],
] as const;

test.each(operations)('%s has one effect and one answer under a key', async (path, event, bodyOf) => {
  const caller = once(await registered(identity));
  const ask = () => identity.call(caller, `POST /${path}`, bodyOf(caller.aid));
  const first = await ask();
  expect(first.status).toBe(200);
  expect(first.headers.has('idempotency-replayed')).toBe(false);
  const second = await ask();
  expect(second).toMatchObject({ status: 200, body: first.body });
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await eventsOf(identity, caller.aid)).toEqual(['agent.registered', event]);
});

test.each(operations)('%s has one effect under a key, whatever comes at once', async (path, event, bodyOf) => {
  const caller = once(await registered(identity));
  const ask = () => identity.call(caller, `POST /${path}`, bodyOf(caller.aid));
  const answers = await whileLocked(identity, agentLock(caller), () => Array.from({ length: 5 }, ask));
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body });
  expect(answers.filter(({ headers }) => headers.has('idempotency-replayed'))).toHaveLength(4);
  expect(await eventsOf(identity, caller.aid)).toEqual(['agent.registered', event]);
});

test.each(operations)('%s keeps its answer by the commit that makes the change', async (path, event, bodyOf) => {
  const caller = once(await registered(identity));
  const ask = () => identity.call(caller, `POST /${path}`, bodyOf(caller.aid));
  const { prisma } = identity.context.database;
  await prisma.$executeRaw`ALTER TABLE idempotency.answer ADD CONSTRAINT no_room CHECK (false) NOT VALID`;
  expect(await ask()).toMatchObject(refused('INTERNAL_ERROR'));
  await prisma.$executeRaw`ALTER TABLE idempotency.answer DROP CONSTRAINT no_room`;
  expect(await eventsOf(identity, caller.aid)).toEqual(['agent.registered']);
  expect(await ask()).toMatchObject({ status: 200 });
  expect(await eventsOf(identity, caller.aid)).toEqual(['agent.registered', event]);
});

test('answers a repetition as the first request, whatever became of the profile since', async () => {
  const agent = await registered(identity);
  const caller = once(agent);
  const update = (by: Agent, description: string) =>
    identity.call(by, 'POST /profile/update', { aid: by.aid, description });
  const first = await update(caller, 'First');
  await update(agent, 'Second');
  expect((await update(caller, 'First')).body).toEqual(first.body);
  expect(await recordOf(identity, agent)).toMatchObject({ description: 'Second' });
});

test('repeats a refusal too', async () => {
  const caller = once(await registered(identity));
  const ask = () => identity.call(caller, 'POST /profile/update', { aid: caller.aid, metadata: 'none' });
  const first = await ask();
  expect(first).toMatchObject(refused('INVALID_METADATA'));
  const second = await ask();
  expect(second).toMatchObject({ status: 400, body: first.body });
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(second.headers.get('content-type')).toBe('application/problem+json');
});

test('refuses another request under the same key', async () => {
  const caller = once(await registered(identity));
  await identity.call(caller, 'POST /profile/update', { aid: caller.aid, description: 'New' });
  const other = { ...caller, idempotency: { ...caller.idempotency, print: 'another request' } };
  const answer = await identity.call(other, 'POST /revoke', { aid: caller.aid });
  expect(answer).toMatchObject(refused('IDEMPOTENCY_KEY_REUSED'));
  expect(await recordOf(identity, caller)).toMatchObject({ status: 'active' });
});

describe('an operation whose answer is a secret', () => {
  test('ignores the key and is done each time', async () => {
    const someone = once(anonymous);
    const quick = () => identity.call(someone, 'POST /quickstart', { agent_name: 'Ann', capabilities: ['search'] });
    const [first, second] = [await quick(), await quick()];
    expect(second.status).toBe(201);
    expect(second.body.aid).not.toBe(first.body.aid);

    const caller = once(await registered(identity));
    for (const path of ['agent-init', 'agent-init', 'connect', 'connect']) {
      const answer = await identity.call(caller, `POST /${path}`, { aid: caller.aid });
      expect(answer.headers.has('idempotency-replayed')).toBe(false);
    }
    expect(await keysOf(identity, caller)).toBe(3);
    expect(await identity.context.database.prisma.connectToken.count({ where: { aid: caller.aid } })).toBe(2);
  });

  test('is kept nowhere', async () => {
    const unknown = newcomer();
    const calls = [
      [
        'register',
        { public_key: unknown.publicKey, agent_name: 'Ann', capabilities: ['search'], description: 'Finds' },
      ],
      ['agent-init', { aid: unknown.aid }],
      ['connect', { aid: unknown.aid }],
      ['agent-init', { agent_name: 'Ann', capabilities: ['search'] }],
      ['quickstart', { name: 'Ann', capabilities: 'search' }],
    ] as const;
    for (const [path, body] of calls) {
      const caller = once(unknown);
      const answer = await identity.call(caller, `POST /${path}`, body);
      expect(answer.status).toBeLessThan(300);
      const rows = await identity.context.database.prisma.$queryRaw`
        SELECT * FROM idempotency.answer WHERE key = ${caller.idempotency.key}`;
      expect(rows).toEqual([]);
    }
  });
});
