import { testClock } from '@acsp/testkit';
import {
  eventsOf,
  type Identity,
  keysOf,
  peerOf,
  profile,
  type Registered,
  recordOf,
  refused,
  registered,
  startIdentity,
} from './harness.js';

let identity: Identity;
let former: Registered;
let present: Registered;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

beforeEach(async () => {
  former = await registered(identity, { metadata: { life: 1 } });
  await identity.call(former, 'POST /account-delete', { aid: former.aid, confirm: true });
  present = await registered(identity, {}, former);
});

test('begins another life where an agent registers again', async () => {
  expect(present.registeredAt).toBeGreaterThan(former.registeredAt);
  using peer = peerOf(identity);
  const { aid, publicKey, loginKey } = present;
  const registered_at = new Date(present.registeredAt);
  expect(await peer.verifyLoginKey({ login_key: loginKey })).toMatchObject({ aid, registered_at });
  expect(await peer.getSigningKey({ aid })).toMatchObject({ public_key: publicKey, registered_at });
  await expect(peer.verifyLoginKey({ login_key: former.loginKey })).rejects.toMatchObject({
    code: 'INVALID_LOGIN_KEY',
  });
  expect(await recordOf(identity, present)).toMatchObject({ ...profile, metadata: {} });
});

test.each([
  ['profile/update', { description: 'Of a former life' }, 'AID_NOT_FOUND'],
  ['connect', {}, 'AID_NOT_FOUND'],
  ['agent-init', { description: 'Of a former life' }, 'AID_NOT_FOUND'],
  ['revoke', {}, 'AID_NOT_FOUND'],
  ['account-delete', { confirm: true }, 'INVALID_AUTH'],
] as const)('a %s that was on its way meanwhile does nothing to the present life', async (path, fields, code) => {
  const late = await identity.call(former, `POST /${path}`, {
    aid: former.aid,
    public_key: former.publicKey,
    ...fields,
  });
  expect(late).toMatchObject(refused(code));
  expect(await recordOf(identity, present)).toMatchObject(profile);
  expect(await keysOf(identity, present)).toBe(1);
  expect(await eventsOf(identity, present.aid)).toEqual(['agent.registered', 'agent.deleted', 'agent.registered']);
});

test('a caller of the present life is served', async () => {
  const { aid } = present;
  expect(await identity.call(present, 'POST /profile/update', { aid, description: 'New' })).toMatchObject({
    status: 200,
  });
  expect(await identity.call(present, 'POST /connect', { aid })).toMatchObject({ status: 201 });
  expect(await identity.call(present, 'POST /account-delete', { aid, confirm: true })).toMatchObject({ status: 200 });
});

test('the next life begins after the former one, even at a replica whose clock is behind', async () => {
  const clock = testClock(Date.now() - 2_000);
  await using slow = await startIdentity({ databaseUrl: identity.databaseUrl, clock });
  const { aid } = former;
  await slow.call(present, 'POST /account-delete', { aid, confirm: true });
  const third = await registered(slow, {}, former);
  expect(third.registeredAt).toBeGreaterThan(present.registeredAt);
  using peer = peerOf(slow);
  const registered_at = new Date(third.registeredAt);
  expect(await peer.verifyLoginKey({ login_key: third.loginKey })).toMatchObject({ aid, registered_at });
});
