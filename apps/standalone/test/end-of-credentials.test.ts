import { eventually } from '@acsp/testkit';
import { startAnotherGateway } from './another-gateway.js';
import { createCaller, signedBody, startWorld, type TestAgent, type World } from './harness.js';

let world: World;
let another: Awaited<ReturnType<typeof startAnotherGateway>>;
let gateways: Pick<World, 'call' | 'callSigned'>[];

beforeAll(async () => {
  world = await startWorld();
  another = await startAnotherGateway(world);
  gateways = [world, createCaller(another.url)];
});
afterAll(async () => {
  await another[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const statusAtEach = (agent: TestAgent) =>
  Promise.all(gateways.map(async ({ call }) => (await call(agent, 'GET /tasks')).body.code ?? 'works'));
/** One after the other: two requests of one millisecond have one signature, and the second is refused as a replay. */
async function initAtEach({ aid, publicKey: public_key, ...agent }: TestAgent): Promise<string[]> {
  const outcomes: string[] = [];
  for (const { callSigned } of gateways) {
    outcomes.push((await callSigned(agent, 'POST /agent-init', { aid, public_key })).body.code ?? 'works');
  }
  return outcomes;
}

/** A credential must be useless one second after the answer that ends it. */
const withinASecond = { timeoutMs: 1_000 };

test('a revoked agent’s login key and signature are useless at every gateway within a second', async () => {
  const agent = await world.register('Rita');
  expect([await statusAtEach(agent), await initAtEach(agent)]).toEqual([
    ['works', 'works'],
    ['works', 'works'],
  ]);
  const answer = await world.callSigned(agent, 'POST /revoke', { aid: agent.aid, public_key: agent.publicKey });
  expect(answer).toMatchObject({ status: 200, body: { revoked: true, aid: agent.aid } });
  await eventually(async () => {
    expect(await statusAtEach(agent)).toEqual(['INVALID_LOGIN_KEY', 'INVALID_LOGIN_KEY']);
    expect(await initAtEach(agent)).toEqual(['AID_NOT_FOUND', 'AID_NOT_FOUND']);
  }, withinASecond);
});

test('so are a deleted agent’s', async () => {
  const agent = await world.register('Dora');
  expect(await statusAtEach(agent)).toEqual(['works', 'works']);
  expect((await world.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true })).status).toBe(200);
  await eventually(async () => {
    expect(await statusAtEach(agent)).toEqual(['INVALID_LOGIN_KEY', 'INVALID_LOGIN_KEY']);
    expect(await initAtEach(agent)).toEqual(['AID_NOT_FOUND', 'AID_NOT_FOUND']);
  }, withinASecond);
});

test('the oldest of eleven login keys is useless within a second, the others work', async () => {
  const agent = await world.register('Kira');
  expect(await statusAtEach(agent)).toEqual(['works', 'works']);
  const later: string[] = [];
  for (let i = 0; i < 10; i += 1) {
    const { body } = await world.callSigned(agent, 'POST /agent-init', { aid: agent.aid, public_key: agent.publicKey });
    later.push(body.login_key);
  }
  await eventually(
    async () => expect(await statusAtEach(agent)).toEqual(['INVALID_LOGIN_KEY', 'INVALID_LOGIN_KEY']),
    withinASecond,
  );
  for (const loginKey of later) expect(await statusAtEach({ ...agent, loginKey })).toEqual(['works', 'works']);
});

test('a deleted agent may register again, a revoked one may not', async () => {
  const [deleted, revoked] = [await world.register('Vera'), await world.register('Wim')];
  await world.call(deleted, 'POST /account-delete', { aid: deleted.aid, confirm: true });
  await world.callSigned(revoked, 'POST /revoke', { aid: revoked.aid, public_key: revoked.publicKey });
  const again = await world.register('Vera', deleted);
  expect(again.aid).toBe(deleted.aid);
  await eventually(async () => {
    expect(await statusAtEach(again)).toEqual(['works', 'works']);
    expect(await statusAtEach(deleted)).toEqual(['INVALID_LOGIN_KEY', 'INVALID_LOGIN_KEY']);
  }, withinASecond);
  await expect(world.register('Wim', revoked)).rejects.toThrow('AID_EXISTS');
});

test('an Idempotency-Key of a former life is free in the next one', async () => {
  const agent = await world.register('Lena');
  const revoke = () => {
    const fields = { aid: agent.aid, public_key: agent.publicKey, timestamp: new Date().toISOString() };
    return world.send('POST /revoke', { headers: { 'idempotency-key': 'again' }, body: signedBody(agent, fields) });
  };
  await world.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true });
  expect(await revoke()).toMatchObject({ status: 404, body: { code: 'AID_NOT_FOUND' } });
  await world.register('Lena', agent);
  await eventually(
    async () => expect(await revoke()).toMatchObject({ status: 200, body: { revoked: true } }),
    withinASecond,
  );
});

describe('a request that ended its caller, repeated under its key, gets its first answer', () => {
  async function expectReplay(request: string, sending: { body: string; headers: Record<string, string> }) {
    const first = await world.send(request, sending);
    expect(first.status).toBe(200);
    await eventually(async () => {
      const again = await world.send(request, sending);
      expect(again).toMatchObject({ status: 200, body: first.body });
      expect(again.headers.get('idempotency-replayed')).toBe('true');
    }, withinASecond);
    return first;
  }

  test('when it deleted the account', async () => {
    const agent = await world.register('Dina');
    const { aid } = agent;
    const headers = { authorization: `Bearer ${agent.loginKey}`, 'idempotency-key': 'delete' };
    const sending = { headers, body: JSON.stringify({ aid, confirm: true }) };
    await expectReplay('POST /account-delete', sending);
    await eventually(async () => expect(await statusAtEach(agent)).toEqual(['INVALID_LOGIN_KEY', 'INVALID_LOGIN_KEY']));
    await expectReplay('POST /account-delete', sending);
  });

  test('when it revoked the agent', async () => {
    const agent = await world.register('Rolf');
    const fields = { aid: agent.aid, public_key: agent.publicKey, timestamp: new Date().toISOString() };
    const sending = { headers: { 'idempotency-key': 'revoke' }, body: signedBody(agent, fields) };
    await expectReplay('POST /revoke', sending);
    await eventually(async () => expect(await statusAtEach(agent)).toEqual(['INVALID_LOGIN_KEY', 'INVALID_LOGIN_KEY']));
    await expectReplay('POST /revoke', sending);
  });
});

test.each([
  [
    'revoked',
    (agent: TestAgent) => world.callSigned(agent, 'POST /revoke', { aid: agent.aid, public_key: agent.publicKey }),
  ],
  ['deleted', (agent: TestAgent) => world.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true })],
])('an agent that is %s gets no messages any more within a second', async (_how, end) => {
  const [sender, gone] = [await world.register('Sam'), await world.register('Gene')];
  const send = () => world.call(sender, 'POST /message/send', { target_aid: gone.aid, content: 'Hello' });
  expect((await send()).status).toBe(201);
  expect((await end(gone)).status).toBe(200);
  await eventually(async () => expect((await send()).body.code).toBe('TARGET_NOT_FOUND'), withinASecond);
});
