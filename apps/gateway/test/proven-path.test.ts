import { type Bus, embeddedBus } from '@acsp/bus';
import { createLogger, createStack } from '@acsp/service';
import { describeWith, eventually, testDatabase } from '@acsp/testkit';
import type { TestAgent } from './support/fake-identity.js';
import { now, signed } from './support/signed.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

const log = createLogger({ name: 'test', level: 'silent' });

describeWith('postgres', 'revocation by the real clock', () => {
  const stack = createStack();
  let gateway: TestGateway;
  let bus: Bus;
  /** Events are lost without a word, as behind a network partition. */
  let isCut = false;
  const asked = () => gateway.identity.asked.verifyLoginKey;
  const statusOf = async ({ loginKey }: TestAgent) => (await gateway.get('tasks', bearer(loginKey))).status;

  /** Traffic keeps the path proven: a key that is known already is not looked up again after more than half a second. */
  async function untilProven(agent: TestAgent): Promise<void> {
    let before = -1;
    let since = 0;
    await eventually(
      async () => {
        expect(await statusOf(agent)).toBe(200);
        if (asked() !== before) [before, since] = [asked(), performance.now()];
        return performance.now() - since > 800;
      },
      { timeoutMs: 15_000 },
    );
  }

  beforeAll(async () => {
    bus = stack.use(embeddedBus({ databaseUrl: stack.use(await testDatabase()).url, log }));
    const cuttable: Bus = {
      ...bus,
      watch: (watcher) => bus.watch({ ...watcher, handle: (event) => isCut || watcher.handle(event) }),
    };
    gateway = stack.use(await testGateway({ overrides: { bus: cuttable } }));
  });
  afterAll(() => stack[Symbol.asyncDispose]());
  beforeEach(() => {
    isCut = false;
    gateway.identity.bus = bus;
    gateway.identity.delayProof = async () => {};
  });

  test('a thousand requests on a proven path ask the identity service once', async () => {
    const [canary, agent] = [gateway.identity.register(), gateway.identity.register()];
    await untilProven(canary);
    const before = asked();
    for (let i = 0; i < 100; i += 1) {
      const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(agent)));
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
    expect(asked()).toBe(before + 1);
  });

  test.each<[string, () => void]>([
    [
      'the relay stands still',
      () => {
        gateway.identity.bus = undefined;
      },
    ],
    [
      'ProvePath hangs',
      () => {
        gateway.identity.bus = undefined;
        gateway.identity.delayProof = () => new Promise(() => {});
      },
    ],
    [
      'the bus is cut',
      () => {
        isCut = true;
      },
    ],
  ])('is effective within a second when %s', async (_, breakPath) => {
    const agent = gateway.identity.register();
    const post = async () =>
      (await gateway.post('thread/message', signed(agent, { aid: agent.aid, n: Math.random(), timestamp: now() })))
        .status;
    await untilProven(agent);
    expect(await post()).toBe(200);
    breakPath();
    gateway.identity.revoke(agent);
    const start = performance.now();
    await eventually(async () => (await statusOf(agent)) === 403, { timeoutMs: 2_000 });
    await eventually(async () => (await post()) === 404, { timeoutMs: 2_000 });
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
