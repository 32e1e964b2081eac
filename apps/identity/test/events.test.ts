import type { Event } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema, LoginKeyEventSchema } from '@acsp/contracts/identity/v1/events';
import { eventually } from '@acsp/testkit';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { type Identity, profile, startIdentity } from './harness.js';

let identity: Identity;
let consumer: AsyncDisposable;
const seen: Event[] = [];
const patient = { timeoutMs: 15_000 };

beforeAll(async () => {
  identity = await startIdentity();
  consumer = await identity.context.bus.consume({
    name: 'test-all',
    subjects: ['acsp.identity.>'],
    handle: async (event) => void seen.push(event),
  });
});
afterAll(async () => {
  await consumer[Symbol.asyncDispose]();
  await identity[Symbol.asyncDispose]();
});

test('publishes what becomes of an agent, in order, with its profile of then', async () => {
  const agent = await identity.registered();
  const { aid } = agent;
  await identity.call(agent, 'POST /profile/update', { aid, description: 'New' });
  for (let i = 0; i < 10; i += 1) await identity.call(agent, 'POST /agent-init', { aid });
  await identity.call(agent, 'POST /account-delete', { aid, confirm: true });
  await eventually(() => expect(seen.filter(({ actor }) => actor === aid)).toHaveLength(4), patient);

  const events = seen.filter(({ actor }) => actor === aid);
  const types = ['agent.registered', 'agent.updated', 'login_key.dropped', 'agent.deleted'];
  expect(events.map(({ type }) => type)).toEqual(types);
  expect(events.map(({ audience }) => audience)).toEqual([[`agent:${aid}`], [`agent:${aid}`], [], [`agent:${aid}`]]);
  const payloads = events.map(({ payload }) => payload && anyUnpack(payload, AgentEventSchema));
  const { agent_name: agentName, ...others } = profile;
  expect(payloads[0]).toMatchObject({ aid, agentName, ...others });
  expect(payloads[1]).toMatchObject({ aid, description: 'New' });
  expect(payloads[3]).toMatchObject({ aid, description: 'New' });
  expect(events[2]?.payload && anyUnpack(events[2].payload, LoginKeyEventSchema)).toMatchObject({ aid });
});

test('publishes a revocation', async () => {
  const agent = await identity.registered();
  await identity.call(agent, 'POST /revoke', { aid: agent.aid });
  await eventually(() => seen.some(({ type, actor }) => type === 'agent.revoked' && actor === agent.aid), patient);
});
