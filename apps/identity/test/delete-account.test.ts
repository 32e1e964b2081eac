import type { Principal } from '@acsp/operation';
import { testClock } from '@acsp/testkit';
import { purgeDeleted } from '../src/operations/delete-account.js';
import {
  anonymous,
  eventsOf,
  type Identity,
  keysOf,
  newcomer,
  profile,
  refused,
  register,
  registered,
  startIdentity,
} from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const remove = (caller: Principal, body: object) => identity.call(caller, 'POST /account-delete', body);

test('removes an agent with its keys and tells its last profile', async () => {
  const agent = await registered(identity);
  const { status, body } = await remove(agent, { aid: agent.aid, confirm: true });
  expect(status).toBe(200);
  expect(body).toEqual({ deleted: true, aid: agent.aid, message: expect.any(String) });
  expect(await identity.call(anonymous, `GET /status?aid=${agent.aid}`)).toMatchObject(refused('AID_NOT_FOUND'));
  expect(await keysOf(identity, agent)).toBe(0);
  const [event] = await identity.context.database.prisma.$queryRaw<object[]>`
    SELECT audience, actor, payload FROM bus.outbox
    WHERE type = 'agent.deleted' AND payload ->> 'aid' = ${agent.aid}`;
  const { aid } = agent;
  const registered_at = new Date(agent.registeredAt).toISOString();
  expect(event).toEqual({ audience: [`agent:${aid}`], actor: aid, payload: { aid, ...profile, registered_at } });
});

test('lets the AID register again', async () => {
  const agent = await registered(identity);
  await remove(agent, { aid: agent.aid, confirm: true });
  expect(await register(identity, agent)).toMatchObject({ status: 201 });
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'agent.deleted', 'agent.registered']);
});

test('a registration that was signed before the deletion does not bring the agent back', async () => {
  const signedAt = identity.context.clock.now().getTime() - 1_000;
  const agent = await registered(identity);
  await remove(agent, { aid: agent.aid, confirm: true });
  const late = { ...agent, via: 'signature', signedAt } as const;
  expect(await register(identity, late)).toMatchObject(refused('INVALID_TIMESTAMP'));
  expect(await identity.call(anonymous, `GET /status?aid=${agent.aid}`)).toMatchObject(refused('AID_NOT_FOUND'));
  expect(await register(identity, agent)).toMatchObject({ status: 201 });
});

test('keeps nothing of the agent but its AID and key, and an hour later nothing at all', async () => {
  const clock = testClock(Date.now());
  await using aging = await startIdentity({ clock });
  const agent = await registered(aging, { metadata: { a: 1 }, endpoint: 'https://example.com', owner_id: 'o' });
  const { prisma } = aging.context.database;
  await aging.call(agent, 'POST /account-delete', { aid: agent.aid, confirm: true });
  expect(await prisma.agent.findUnique({ where: { aid: agent.aid } })).toMatchObject({
    ...{ agent_name: '', capabilities: [], description: '', metadata: {}, endpoint: null, owner_id: null },
  });
  await purgeDeleted(aging.context);
  expect(await prisma.agent.count()).toBe(1);
  clock.advance(3_600_001);
  await purgeDeleted(aging.context);
  expect(await prisma.agent.count()).toBe(0);
});

test('of several at once one removes, the others find nothing', async () => {
  const agent = await registered(identity);
  const answers = await Promise.all(Array.from({ length: 5 }, () => remove(agent, { aid: agent.aid, confirm: true })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  expect(await eventsOf(identity, agent.aid)).toEqual(['agent.registered', 'agent.deleted']);
});

test('refuses in the documented order: confirm, form of the AID, existence, whose key it is', async () => {
  const [ann, bob] = [await registered(identity), await registered(identity)];
  expect(await remove(bob, { aid: 'x' })).toMatchObject(refused('CONFIRM_REQUIRED'));
  for (const confirm of [false, 'true', 1, null]) {
    expect(await remove(ann, { aid: ann.aid, confirm })).toMatchObject(refused('CONFIRM_REQUIRED'));
  }
  expect(await remove(bob, { aid: 'x', confirm: true })).toMatchObject(refused('INVALID_AID'));
  expect(await remove(bob, { confirm: true })).toMatchObject(refused('INVALID_AID'));
  expect(await remove(bob, { aid: newcomer().aid, confirm: true })).toMatchObject(refused('AID_NOT_FOUND'));
  for (const caller of [bob, anonymous]) {
    expect(await remove(caller, { aid: ann.aid, confirm: true })).toMatchObject(refused('INVALID_AUTH'));
  }
  expect(await identity.call(anonymous, `GET /status?aid=${ann.aid}`)).toMatchObject({ status: 200 });
});
