import { payloadOf, startConsumer } from '@acsp/bus';
import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema, LoginKeyEventSchema, PathEventSchema } from '@acsp/contracts/identity/v1/events';
import { eventually } from '@acsp/testkit';
import { eventsOf, type Identity, peerOf, profile, registered, startIdentity, waiting } from './harness.js';

let identity: Identity;
let consumer: AsyncDisposable;
const seen: Event[] = [];
const patient = { timeoutMs: 15_000 };

beforeAll(async () => {
  identity = await startIdentity();
  const { database, log } = identity.context;
  consumer = startConsumer(
    {
      name: 'test-all',
      subjects: ['acsp.identity.>'],
      start: 'kept',
      order: 'strict',
      handle: async (event) => void seen.push(event),
    },
    { database, bus: identity.bus, log },
  );
});
afterAll(async () => {
  await consumer[Symbol.asyncDispose]();
  await identity[Symbol.asyncDispose]();
});

const seenBy = (aid: string) => seen.filter(({ actor }) => actor === aid);

test('publishes what becomes of an agent, in order, with its profile of then', async () => {
  const agent = await registered(identity);
  const { aid, registeredAt } = agent;
  await identity.call(agent, 'POST /profile/update', { aid, description: 'New' });
  for (let i = 0; i < 10; i += 1) await identity.call(agent, 'POST /agent-init', { aid });
  await identity.call(agent, 'POST /account-delete', { aid, confirm: true });
  await eventually(() => expect(seenBy(aid)).toHaveLength(4), patient);

  const events = seenBy(aid);
  const types = ['agent.registered', 'agent.updated', 'login_key.dropped', 'agent.deleted'];
  expect(events.map(({ type }) => type)).toEqual(types);
  expect(events.map(({ audience }) => audience)).toEqual([[`agent:${aid}`], [`agent:${aid}`], [], [`agent:${aid}`]]);
  const [first, second, dropped, last] = events as [Event, Event, Event, Event];
  const life = { aid, ...profile, registered_at: new Date(registeredAt) };
  expect(payloadOf(AgentEventSchema, first)).toEqual(life);
  expect(payloadOf(AgentEventSchema, second)).toEqual({ ...life, description: 'New' });
  expect(payloadOf(AgentEventSchema, last)).toEqual({ ...life, description: 'New' });
  expect(payloadOf(LoginKeyEventSchema, dropped)).toEqual({ aid });
});

test('publishes a revocation', async () => {
  const agent = await registered(identity);
  await identity.call(agent, 'POST /revoke', { aid: agent.aid });
  await eventually(() => seenBy(agent.aid).some(({ type }) => type === 'agent.revoked'), patient);
});

test('tells by registered_at which life of an agent an event is about', async () => {
  const agent = await registered(identity);
  await identity.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true });
  const again = await registered(identity, {}, agent);
  await identity.call(again, 'POST /revoke', { aid: agent.aid });
  await eventually(() => expect(seenBy(agent.aid)).toHaveLength(4), patient);
  const lives = seenBy(agent.aid).map((event) => payloadOf(AgentEventSchema, event).registered_at?.getTime());
  const [former, present] = [agent.registeredAt, again.registeredAt];
  expect(lives).toEqual([former, former, present, present]);
  expect(present).toBeGreaterThan(former);
});

describe('provePath', () => {
  const proofs = () => seen.filter(({ type }) => type === 'path.proven');

  test('commits before it answers', async () => {
    using peer = peerOf(identity);
    const { prisma } = identity.context.database;
    const answers: unknown[] = [];
    let proving = Promise.resolve();
    await prisma.$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE bus.outbox IN SHARE MODE`;
      proving = peer.provePath({ nonce: 'committed' }).then((answer) => void answers.push(answer));
      await eventually(async () => (await waiting(identity, 'INSERT INTO bus.outbox%')) === 1);
      expect(answers).toEqual([]);
    });
    await proving;
    expect(answers).toEqual([{}]);
    const rows = await prisma.$queryRaw`
      SELECT type, audience, actor, payload FROM bus.outbox WHERE payload ->> 'nonce' = 'committed'`;
    expect(rows).toEqual([{ type: 'path.proven', audience: [], actor: null, payload: { nonce: 'committed' } }]);
  });

  test('comes behind every change that was committed before', async () => {
    using peer = peerOf(identity);
    for (let i = 0; i < 5; i += 1) {
      const agent = await registered(identity);
      const nonce = `after ${agent.aid.slice(0, 8)}`;
      await identity.call(agent, 'POST /revoke', { aid: agent.aid });
      await peer.provePath({ nonce });
      await eventually(() => proofs().some((event) => payloadOf(PathEventSchema, event).nonce === nonce), patient);
      expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'agent.revoked']);
      expect(seenBy(agent.aid).map(({ type }) => type)).toEqual(['agent.registered', 'agent.revoked']);
    }
  });

  test('is for services, and wants a nonce of 1 to 64 characters', async () => {
    using peer = peerOf(identity);
    const caller = await registered(identity);
    await expect(peer.provePath({ nonce: 'mine' }, { caller })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    for (const nonce of ['', 'x'.repeat(65)]) {
      await expect(peer.provePath({ nonce })).rejects.toMatchObject({ code: 'INVALID_FIELD' });
    }
  });
});
