import { anonymous, type Identity, newcomer, profile, refused, startIdentity } from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity({ databaseUrl: 'postgresql://nobody@127.0.0.1:1/nothing', migrated: false });
});
afterAll(() => identity[Symbol.asyncDispose]());

test('answers 503 while the database is away', async () => {
  const agent = newcomer();
  const answers = await Promise.all([
    identity.call(agent, 'POST /register', { public_key: agent.publicKey, ...profile }),
    identity.call(anonymous, `GET /status?aid=${agent.aid}`),
    identity.call(anonymous, 'GET /status'),
    identity.call(agent, 'POST /profile/update', { aid: agent.aid, description: 'x' }),
  ]);
  for (const answer of answers) {
    expect(answer).toMatchObject(refused('SERVICE_UNAVAILABLE'));
    expect(answer.headers.get('retry-after')).toBe('1');
  }
});
