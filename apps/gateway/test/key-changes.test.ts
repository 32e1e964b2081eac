import { randomUUID } from 'node:crypto';
import { type Bus, embeddedBus, jetStreamBus } from '@acsp/bus';
import { AgentEventSchema, LoginKeyEventSchema } from '@acsp/contracts/identity/v1/events';
import { createLogger, createStack } from '@acsp/service';
import { describeWith, eventually, ownNats, type TestClock, testClock, testDatabase } from '@acsp/testkit';
import { publish, type TestAgent } from './support/fake-identity.js';
import { now, signed } from './support/signed.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

const log = createLogger({ name: 'test', level: 'silent' });
let gateway: TestGateway;
let clock: TestClock;

const statusOf = async ({ loginKey }: TestAgent) => (await gateway.get('tasks', bearer(loginKey))).status;

/** Answers true if a second look at the same key after this time asks the identity service again. */
async function asksAgainAfter(ms: number, between = async () => {}): Promise<boolean> {
  const agent = gateway.identity.register();
  await statusOf(agent);
  clock.advance(ms);
  await between();
  const before = gateway.identity.asked.verifyLoginKey;
  await statusOf(agent);
  return gateway.identity.asked.verifyLoginKey > before;
}

/** Each try takes 0.6 s of the test's clock. */
async function untilLive(): Promise<void> {
  await eventually(async () => !(await asksAgainAfter(600)), { timeoutMs: 15_000 });
}

const untilNotLive = () => eventually(() => asksAgainAfter(600), { timeoutMs: 15_000 });

function publishChange(bus: Bus, type: string, { aid }: TestAgent): Promise<void> {
  return publish(bus, type, [type === 'login_key.dropped' ? LoginKeyEventSchema : AgentEventSchema, { aid }]);
}

describeWith('postgres', 'while changes of agents are heard of', () => {
  const stack = createStack();
  let bus: Bus;

  beforeAll(async () => {
    clock = testClock(Date.now());
    bus = stack.use(embeddedBus({ databaseUrl: stack.use(await testDatabase()).url, log }));
    gateway = stack.use(await testGateway({ overrides: { bus, clock } }));
    gateway.identity.bus = bus;
    await untilLive();
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  test('a key is looked up once in half a minute', async () => {
    expect(await asksAgainAfter(20_000, untilLive)).toBe(false);
    expect(await asksAgainAfter(30_000, untilLive)).toBe(true);
  });

  test.each(['agent.revoked', 'agent.deleted', 'agent.updated', 'login_key.dropped'])(
    'a key is useless within a second of %s',
    async (type) => {
      const [agent, other] = [gateway.identity.register(), gateway.identity.register()];
      expect([await statusOf(agent), await statusOf(other)]).toEqual([200, 200]);
      const { verifyLoginKey } = gateway.identity.asked;
      gateway.identity.revoke(agent);
      await publishChange(bus, type, agent);
      await eventually(async () => (await statusOf(agent)) === 403, { timeoutMs: 1_000 });
      await statusOf(other);
      expect(gateway.identity.asked.verifyLoginKey).toBe(verifyLoginKey + 1);
    },
  );

  test('a key ends when it expires, though it was good when it was looked up', async () => {
    const agent = gateway.identity.register({ expiresAt: new Date(clock.now().getTime() + 10_000) });
    expect(await statusOf(agent)).toBe(200);
    clock.advance(10_000);
    expect(await statusOf(agent)).toBe(403);
  });

  test('a signing key is useless within a second of agent.revoked', async () => {
    const agent = gateway.identity.register();
    const post = () =>
      gateway.post('thread/message', signed(agent, { aid: agent.aid, id: randomUUID(), timestamp: now() }));
    expect((await post()).status).toBe(200);
    gateway.identity.revoke(agent);
    await publishChange(bus, 'agent.revoked', agent);
    await eventually(async () => (await post()).status === 404, { timeoutMs: 1_000 });
  });

  test('a change wins against a look-up that is on its way', async () => {
    const [agent, canary] = [gateway.identity.register(), gateway.identity.register()];
    await statusOf(canary);
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked = () => gateway.identity.asked.verifyLoginKey;
    const before = asked();
    gateway.identity.delay = () => gate;
    const reply = statusOf(agent);
    await eventually(() => asked() === before + 1);
    gateway.identity.delay = async () => {};
    gateway.identity.revoke(agent);
    await publishChange(bus, 'agent.revoked', agent);
    await publishChange(bus, 'agent.updated', canary);
    await eventually(async () => (await statusOf(canary)) === 200 && asked() > before + 1);
    release();
    expect(await reply).toBe(403);
  });

  test('those who show the same key at the same time share one look-up', async () => {
    const agent = gateway.identity.register();
    const before = gateway.identity.asked.verifyLoginKey;
    await Promise.all(Array.from({ length: 10 }, () => statusOf(agent)));
    expect(gateway.identity.asked.verifyLoginKey).toBe(before + 1);
  });
});

test('while nobody says what changed, a key is looked up again after half a second', async () => {
  clock = testClock(Date.now());
  gateway = await testGateway({ overrides: { clock } });
  expect(await asksAgainAfter(400)).toBe(false);
  expect(await asksAgainAfter(500)).toBe(true);
  await gateway[Symbol.asyncDispose]();
});

describeWith('own nats', 'when the bus goes down', () => {
  test('keys are looked up afresh until it is back', async () => {
    await using nats = await ownNats();
    await using bus = jetStreamBus({ url: nats.url, log });
    clock = testClock(Date.now());
    gateway = await testGateway({ overrides: { bus, clock } });
    gateway.identity.bus = bus;
    await untilLive();
    await nats.kill();
    await untilNotLive();
    await nats.restart();
    await untilLive();
    await gateway[Symbol.asyncDispose]();
  });
});
