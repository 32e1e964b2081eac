import { randomUUID } from 'node:crypto';
import { eventually } from '@acsp/testkit';
import { signedTarget, startWorld, type TestAgent, type World } from './harness.js';
import { browse, chromium } from './radio/browser.js';
import { eventToken, shortToken } from './radio/event-token.js';
import { talk } from './radio/talk.js';

// A page of another origin in a real browser: what its EventSource sees, and which answers and headers the browser lets it have.

const describeBrowser = chromium === undefined ? describe.skip : describe;
const closings = 4;

describeBrowser(`a page${chromium ? '' : ' [left out: no Chromium on the path or as CHROMIUM]'}`, () => {
  let world: World;
  let ann: TestAgent;
  let bob: TestAgent;

  beforeAll(async () => {
    const limits = JSON.stringify({ 'message-send': 1_000_000, 'profile-update': 1 });
    world = await startWorld({ rateLimitScale: 1, env: { STREAM_SECONDS: '2', RATE_LIMITS: limits } });
    [ann, bob] = [await world.register('Ann'), await world.quickstart('Bob')];
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const setup = (token: string) => ({ api: `${world.url}/api/acsp`, radio: `/events/radio?token=${token}` });

  test(`sees every message once and in order through ${closings} ends of its stream, also after its token has expired`, async () => {
    await using page = await browse(async () => ({ ...setup(await shortToken(world, ann, 10)), requests: [] }));
    await eventually(() => page.seen().opened > 0, { timeoutMs: 30_000 });
    await using talking = talk(world, bob, ann);
    await eventually(() => page.seen().refused || page.seen().reasons.length >= closings, { timeoutMs: 60_000 });
    const sent = await talking.stop();
    await eventually(() => page.seen().bodies.length >= sent.length);
    const { bodies, reasons, refused } = page.seen();
    expect({ bodies, refused, reasons: new Set(reasons) }).toEqual({
      ...{ bodies: sent, refused: false, reasons: new Set(['max_duration']) },
    });
  }, 120_000);

  test('reads refusals, and the headers that the API names', async () => {
    for (const content of ['This is forgotten', 'This is kept'])
      await world.call(bob, 'POST /message/send', { target_aid: ann.aid, content });
    await eventually(async () => (await forget()) > 0);
    const headers = { authorization: `Bearer ${ann.loginKey}`, 'content-type': 'application/json' };
    const post = (path: string, fields: object, more = {}) => {
      return { path, method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(fields) };
    };
    const send = post('/message/send', { target_aid: bob.aid, content: 'Once' }, { 'idempotency-key': randomUUID() });
    const profile = post('/profile/update', { aid: ann.aid, description: 'Reads headers' });
    const missed = `/events/stream?aid=${ann.aid}&after=evt_${'0'.repeat(20)}&ts=${new Date().toISOString()}`;
    const stream = { path: signedTarget(ann, missed, 'sig') };
    const requests = [send, send, profile, profile, stream, { path: '/tasks' }];
    await using page = await browse(async () => ({ ...setup(await eventToken(world, ann)), requests }));
    await eventually(() => page.seen().answers.length === requests.length && page.seen().opened > 0, {
      timeoutMs: 30_000,
    });

    const { answers } = page.seen();
    expect(answers.map(({ status, error }) => error ?? status)).toEqual([201, 201, 200, 429, 200, 401]);
    const every = {
      'x-request-id': expect.any(String),
      ratelimit: expect.any(String),
      'ratelimit-policy': expect.any(String),
    };
    for (const answer of answers) expect(answer.headers).toMatchObject(every);
    expect(answers[1]?.headers).toMatchObject({ 'idempotency-replayed': 'true' });
    expect(answers[3]?.headers).toMatchObject({ 'retry-after': expect.any(String) });
    expect(answers[4]?.headers).toMatchObject({ 'events-truncated': 'true' });
  }, 120_000);

  /** Does to the feed what seven days do. */
  const forget = async () => {
    const statement = 'DELETE FROM bus.feed WHERE position < (SELECT max(position) FROM bus.feed)';
    return (await world.database('bus').query(statement)).rowCount ?? 0;
  };
});
