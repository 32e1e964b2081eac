import { type Agent, lifeOf } from '@acsp/operation';
import { describeWith, eventually, type LocalServer, metric, ownRedis, type TestClock, testClock } from '@acsp/testkit';
import { memberOf, writeSeen } from '../src/presence/records.js';
import { agent, type Events, startEvents } from './harness.js';
import { presencesOf, signals, watching } from './presences.js';

// Watchers hear this of an agent, by two replicas on one database and one store.

describe('on PostgreSQL', () => suite(async () => undefined));

describeWith('own redis', 'on Redis', () => {
  let redis: LocalServer;
  afterAll(() => redis[Symbol.asyncDispose]());
  suite(async () => {
    redis = await ownRedis();
    return redis.url;
  });
});

function suite(startRedis: () => Promise<string | undefined>) {
  let replicas: readonly [Events, Events];
  let clock: TestClock;
  let here: ReturnType<typeof presencesOf>;
  let there: ReturnType<typeof presencesOf>;

  beforeAll(async () => {
    clock = testClock();
    const env = { REDIS_URL: await startRedis() };
    const first = await startEvents({ clock, env });
    replicas = [first, await startEvents({ clock, env, databaseUrl: first.databaseUrl })];
    [here, there] = [presencesOf(replicas[0]), presencesOf(replicas[1])];
  });
  afterAll(async () => {
    for (const events of replicas.toReversed()) await events[Symbol.asyncDispose]();
  });

  /** Lets the server's clock go on by as much as ours, for the agents that a test names. */
  async function pass(ms: number, agents: readonly Agent[]): Promise<void> {
    clock.advance(ms);
    const { store } = replicas[0].context;
    for (const one of agents) await store.schedule('stale', memberOf(lifeOf(one)), 0);
  }
  /** An answer waits for the announcement half a second at most, and a busy machine may take longer. */
  async function told(agents: readonly Agent[], status: string): Promise<void> {
    for (const { aid } of agents) await eventually(async () => (await here.announced(aid)).at(-1) === status);
  }
  const isScheduled = async (one: Agent) =>
    (await replicas[0].context.store.due('stale', 1000)).includes(memberOf(lifeOf(one)));

  test('a change of status is announced once, wherever it is said', async () => {
    const bob = agent('Bob');
    for (const status of ['online', 'busy', 'online', 'offline']) {
      await here.set(bob, status);
      await told([bob], status);
      await there.beat(bob, { status });
      await here.set(bob, status);
    }
    expect(await here.announced(bob.aid)).toEqual(['online', 'busy', 'online', 'offline']);
  });

  test('an announcement has the agent, its status, and when it was seen', async () => {
    const bob = agent('Bob');
    await here.set(bob, 'away');
    await told([bob], 'away');
    const [message] = await replicas[1].bus.feed.latest([`presence:${bob.aid}`], 10);
    expect(message).toMatchObject({ feed: `presence:${bob.aid}`, event: 'presence', channel: null });
    expect(JSON.parse(message?.data ?? '')).toEqual({
      aid: bob.aid,
      status: 'away',
      last_seen: clock.now().toISOString(),
    });
  });

  test('an agent that was never seen and says that it is offline is no news', async () => {
    const bob = agent('Bob');
    await here.set(bob, 'offline');
    expect(await here.announced(bob.aid)).toEqual([]);
  });

  test('an agent whose heartbeat has run out is swept once, by whichever sweep', async () => {
    const agents = Array.from({ length: 60 }, () => agent('Gone'));
    await Promise.all(agents.map((one) => here.beat(one)));
    await told(agents, 'online');
    const at = clock.now();
    await pass(150_000, agents);
    expect((await here.sweep()).body).toEqual({ swept: 0 });
    await pass(1, agents);
    const answers = await Promise.all([here, there].map(({ sweep }) => sweep()));
    let swept = answers.reduce((sum, { body }) => sum + body.swept, 0);
    // A sweep leaves to others what they are busy with.
    await eventually(async () => {
      swept += (await here.sweep()).body.swept;
      return swept >= 60;
    });
    expect(swept).toBe(60);
    for (const { aid } of agents) expect(await here.announced(aid)).toEqual(['online', 'offline']);
    const [message] = (await replicas[0].bus.feed.latest([`presence:${agents[0]?.aid}`], 10)).toReversed();
    expect(JSON.parse(message?.data ?? '')).toEqual({
      ...{ aid: agents[0]?.aid, status: 'offline', last_seen: at.toISOString() },
    });
    expect((await here.sweep()).body.swept).toBe(0);
  });

  test.each(['{', '{"status":"dancing"}'])(
    'an agent whose record is %s was never seen, and others are swept',
    async (text) => {
      const [bob, eve] = [agent('Bob'), agent('Eve')];
      await here.beat(eve);
      await told([eve], 'online');
      for (const key of [`seen ${memberOf(lifeOf(bob))}`, `announced ${bob.aid}`])
        await replicas[0].context.store.set(key, text, 60);
      expect((await here.get(eve, bob)).body).toMatchObject({ status: 'offline', last_seen: null });
      await pass(150_001, [bob, eve]);
      expect((await here.sweep()).body).toEqual({ swept: 1 });
      expect([await isScheduled(bob), await here.announced(eve.aid)]).toEqual([false, ['online', 'offline']]);
      await here.beat(bob);
      await told([bob], 'online');
    },
  );

  test('a heartbeat beside a sweep wins, and the agent is online to its watchers', async () => {
    for (let round = 0; round < 5; round += 1) {
      const agents = Array.from({ length: 10 }, () => agent('Back'));
      await Promise.all(agents.map((one) => here.beat(one)));
      await told(agents, 'online');
      await pass(150_001, agents);
      await Promise.all([
        here.sweep(),
        there.sweep(),
        ...agents.map((one, index) => (index % 2 ? here : there).beat(one)),
      ]);
      for (const one of agents) {
        expect((await here.get(one, one)).body.status).toBe('online');
        expect(await isScheduled(one)).toBe(false);
      }
      await told(agents, 'online');
    }
  });

  test('of changes at once in two replicas the last that is announced is the one that stands', async () => {
    for (let round = 0; round < 20; round += 1) {
      const bob = agent('Bob');
      const said = ['online', 'away', 'busy', 'idle', 'offline', 'online', 'away', 'busy'];
      await Promise.all(said.map((status, index) => (index % 2 ? here : there).set(bob, status)));
      const { status } = (await here.get(bob, bob)).body;
      await eventually(async () => ((await here.announced(bob.aid)).at(-1) ?? 'offline') === status);
    }
  });

  describe('a process that dies', () => {
    const unseen = { metadata: {} };

    test('before it has written what the agent said leaves nothing to sweep', async () => {
      const bob = agent('Bob');
      await replicas[0].context.store.schedule('stale', memberOf(lifeOf(bob)), 0);
      expect((await here.sweep()).body.swept).toBe(0);
      expect([await isScheduled(bob), await here.announced(bob.aid)]).toEqual([false, []]);
    });

    test('before it has announced that leaves it to the next heartbeat or to the sweep', async () => {
      const [bob, eve] = [agent('Bob'), agent('Eve')];
      await here.beat(eve);
      await told([eve], 'online');
      await writeSeen(replicas[0].context, lifeOf(bob), { ...unseen, status: 'busy', last_seen: clock.now() });
      await there.beat(bob, { status: 'busy' });
      await pass(0, [eve]);
      await writeSeen(replicas[0].context, lifeOf(eve), { ...unseen, status: 'offline', last_seen: clock.now() });
      await there.sweep();
      expect(await here.announced(bob.aid)).toEqual(['busy']);
      expect(await here.announced(eve.aid)).toEqual(['online', 'offline']);
    });

    test('while it announces keeps an agent on the schedule until the lock has run out', async () => {
      const bob = agent('Bob');
      await here.beat(bob);
      await told([bob], 'online');
      const { store } = replicas[0].context;
      await store.add(`announcing ${bob.aid}`, '', 60);
      await there.set(bob, 'offline');
      await here.sweep();
      expect([await isScheduled(bob), await here.announced(bob.aid)]).toEqual([true, ['online']]);
      await store.delete(`announcing ${bob.aid}`);
      await here.sweep();
      expect([await isScheduled(bob), await here.announced(bob.aid)]).toEqual([false, ['online', 'offline']]);
    });
  });

  describe('while the feed is away', () => {
    const rename = (from: string, to: string) =>
      replicas[0].context.database.pool.query(`ALTER TABLE bus.${from} RENAME TO ${to}`);
    const leave = () => rename('feed', 'feed_away');
    const comeBack = () => rename('feed_away', 'feed');

    test('a heartbeat is answered, and announced by the next one', async () => {
      const bob = agent('Bob');
      const count = async () => (await metric('acsp_presence_unannounced_total')) ?? 0;
      const before = await count();
      await leave();
      expect((await here.beat(bob)).status).toBe(200);
      expect((await here.get(bob, bob)).body.status).toBe('online');
      expect(await count()).toBe(before + 1);
      await comeBack();
      await there.beat(bob);
      expect(await here.announced(bob.aid)).toEqual(['online']);
    });

    test('an agent goes offline to every reader, and is announced by the sweep after', async () => {
      const bob = agent('Bob');
      await here.beat(bob);
      await told([bob], 'online');
      await leave();
      await here.set(bob, 'offline');
      expect((await here.sweep()).status).toBe(503);
      expect(await isScheduled(bob)).toBe(true);
      await comeBack();
      expect((await here.sweep()).body.swept).toBe(0);
      expect([await isScheduled(bob), await here.announced(bob.aid)]).toEqual([false, ['online', 'offline']]);
    });
  });

  describe('watchers are shown a sign of life', () => {
    test('once in 30 seconds, however many heartbeats come in both replicas, and it is not kept', async () => {
      const bob = agent('Bob');
      await watching(replicas, bob, async (heard) => {
        await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? here : there).beat(bob, { status: 'busy' })));
        // Both subscriptions hear it.
        await eventually(() => signals(heard).length >= 2);
        expect(signals(heard)).toHaveLength(2);
        const ts = clock.now().toISOString();
        expect(JSON.parse(signals(heard)[0]?.data ?? '')).toEqual({ aid: bob.aid, status: 'busy', ts });
        await replicas[0].context.store.delete(`signal ${bob.aid}`);
        await here.beat(bob, { status: 'busy' });
        await eventually(() => signals(heard).length === 4);
      });
      expect(await here.announced(bob.aid)).toEqual(['busy']);
    });

    test('by heartbeats only, and not by one that says that it is offline', async () => {
      const bob = agent('Bob');
      await watching(replicas, bob, async (heard) => {
        await here.set(bob, 'online');
        await told([bob], 'online');
        await here.beat(bob, { status: 'offline' });
        await eventually(() => heard.length === 4);
        expect(signals(heard)).toEqual([]);
      });
    });
  });
}
