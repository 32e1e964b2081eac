import { startWorld, type TestAgent, type World } from './harness.js';

// The documented limits, as they are without any configuration.

let world: World;
let [busy, calm]: TestAgent[] = [];

beforeAll(async () => {
  world = await startWorld({ rateLimitScale: 1 });
  [busy, calm] = [await world.quickstart('Busy'), await world.quickstart('Calm')];
});
afterAll(() => world[Symbol.asyncDispose]());

test('an agent has thirty task requests a minute, whatever they are, and others are not affected', async () => {
  const create = { title: 'Count to thirty', description: 'Slowly' };
  const answers = [];
  for (let i = 0; i < 15; i += 1) {
    answers.push(await world.call(busy, 'POST /tasks', create), await world.call(busy, 'GET /tasks'));
  }
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 15 }, () => [201, 200]).flat());
  expect(answers.at(0)?.headers.get('ratelimit-policy')).toBe('"tasks";q=30;w=60');
  expect(answers.at(0)?.headers.get('ratelimit')).toMatch(/^"tasks";r=29;t=\d+$/);
  expect(answers.at(-1)?.headers.get('ratelimit')).toMatch(/^"tasks";r=0;t=\d+$/);

  const refused = await world.call(busy, 'POST /tasks', create);
  expect(refused).toMatchObject({
    status: 429,
    body: { code: 'RATE_LIMITED', retry_after_seconds: expect.any(Number) },
  });
  const seconds = refused.body.retry_after_seconds;
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(refused.headers.get('retry-after')).toBe(String(Math.ceil(seconds)));
  expect(refused.headers.get('ratelimit')).toMatch(/^"tasks";r=0;t=\d+$/);

  expect((await world.call(calm, 'GET /tasks')).status).toBe(200);
  expect((await world.call(busy, 'POST /profile/update', { aid: busy?.aid, metadata: { still: 'here' } })).status).toBe(
    200,
  );
});

test('an address has five quickstarts a minute, and looks up whom it likes all the same', async () => {
  const quickstart = () =>
    world.send('POST /quickstart', { body: JSON.stringify({ name: 'Many', capabilities: 'counting' }) });
  // Two were made above.
  const statuses = [];
  for (let i = 0; i < 4; i += 1) statuses.push((await quickstart()).status);
  expect(statuses).toEqual([201, 201, 201, 429]);
  const health = await Promise.all(Array.from({ length: 130 }, () => world.send('GET /status')));
  expect(new Set(health.map(({ status }) => status))).toEqual(new Set([200]));
  expect(health[0]?.headers.has('ratelimit')).toBe(false);
});
