import { createPrincipals, type Principal, secretList } from './principal.js';

const agent: Principal = {
  ...{
    aid: 'a'.repeat(50),
    name: 'Mara, the editor',
    via: 'login_key',
    requestId: 'r-1',
    registeredAt: 7,
    signedAt: 8,
  },
  ...{ rpc: 'acsp.tasks.v1.TasksService/ClaimTask', claimedAid: 'b'.repeat(50), idempotency: { key: 'k', print: 'p' } },
};
const refused = expect.objectContaining({ code: 'AUTH_REQUIRED' });
const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

let now = 1_000_000;
const withSecrets = (...secrets: string[]) => createPrincipals(secrets, { now: () => now });
const { sign, verify } = withSecrets('a secret of the services');

test('a principal arrives as it was sent, whole or with the least', () => {
  const service: Principal = { name: 'tasks', via: 'service', requestId: '' };
  expect(verify(sign(agent))).toEqual(agent);
  expect(verify(sign(service))).toEqual(service);
  expect(Object.keys(verify(sign(service)))).toHaveLength(Object.keys(agent).length);
});

test('a token is good for a minute and what clocks may differ; then a clock of ours is off, and the caller is not to blame', () => {
  const token = sign(agent);
  const signedAt = now;
  for (const [afterMs, good] of [
    [70_000, true],
    [70_001, false],
    [-10_000, true],
    [-10_001, false],
  ] as const) {
    now = signedAt + afterMs;
    if (good) expect(verify(token)).toEqual(agent);
    else expect(() => verify(token)).toThrow(unavailable);
  }
  now = signedAt;
});

test('a token of another secret, a changed one and none are refused, however old', () => {
  const [payload = '', proof = ''] = sign(agent).split('.');
  const other = Buffer.from(JSON.stringify([now, 'login_key', 'r-1', 'Otto', 'b'.repeat(50)])).toString('base64url');
  const old = Buffer.from(JSON.stringify([0, 'login_key', 'r-1', 'Otto'])).toString('base64url');
  const forged = [
    ...[withSecrets('another secret').sign(agent), withSecrets('').sign(agent), `${other}.${proof}`, `${old}.${proof}`],
    ...[payload, `.${proof}`, `${payload}.`, `${payload}.${proof.slice(0, -4)}`, `${payload}.${proof}AAAA`],
  ];
  for (const token of [...forged, '', '.', undefined]) expect(() => verify(token)).toThrow(refused);
});

test('a token of another secret is told of, and the lack of one is not', () => {
  const told: string[] = [];
  const watched = createPrincipals(['a secret'], { onForeign: ({ message }) => told.push(message) });
  for (const token of [undefined, '', watched.sign(agent), sign(agent)]) {
    try {
      watched.verify(token);
    } catch {}
  }
  expect(told).toEqual(['No PRINCIPAL_SECRET of this service has signed it']);
});

test('of several secrets each is accepted and the first signs, so that one is replaced in three steps', () => {
  const [old, both, next] = [withSecrets('old'), withSecrets('old', 'new'), withSecrets('new', 'old')];
  const done = withSecrets('new');
  expect([old, both, next].map(({ verify }) => verify(both.sign(agent)))).toEqual([agent, agent, agent]);
  expect([both, next, done].map(({ verify }) => verify(next.sign(agent)))).toEqual([agent, agent, agent]);
  expect(() => done.verify(both.sign(agent))).toThrow(refused);
  expect(() => old.verify(next.sign(agent))).toThrow(refused);
});

test('without a secret nothing is accepted', () => {
  expect(() => withSecrets().verify(withSecrets().sign(agent))).toThrow(refused);
});

test('secrets come as a list with commas', () => {
  expect(secretList('new,old')).toEqual(['new', 'old']);
  expect(secretList(',one,')).toEqual(['one']);
});
