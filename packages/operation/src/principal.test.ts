import { createPrincipals, type Principal } from './principal.js';

const agent: Principal = { aid: 'a'.repeat(50), name: 'Mara, the editor', via: 'login_key', requestId: 'r-1' };
const refused = expect.objectContaining({ code: 'AUTH_REQUIRED' });

let now = 1_000_000;
const { sign, verify } = createPrincipals('a secret of the services', () => now);

test('a principal arrives as it was sent, with an AID or without', () => {
  const service: Principal = { name: 'tasks', via: 'service', requestId: '' };
  expect(verify(sign(agent))).toEqual(agent);
  expect(verify(sign(service))).toEqual(service);
});

test('a token is good for a minute and what clocks may differ, no longer and no earlier', () => {
  const token = sign(agent);
  const signedAt = now;
  for (const [afterMs, good] of [
    [65_000, true],
    [65_001, false],
    [-5_000, true],
    [-5_001, false],
  ] as const) {
    now = signedAt + afterMs;
    if (good) expect(verify(token)).toEqual(agent);
    else expect(() => verify(token)).toThrow(refused);
  }
  now = signedAt;
});

test('calls that are made for one principal share a token for ten seconds', () => {
  const principal = { ...agent };
  const token = sign(principal);
  const signedAt = now;
  now = signedAt + 10_000;
  expect(sign(principal)).toBe(token);
  now += 1;
  expect(sign(principal)).not.toBe(token);
  expect(verify(sign(principal))).toEqual(agent);
  now = signedAt;
});

test('a token of another secret, a changed one and none are refused', () => {
  const [payload = '', proof = ''] = sign(agent).split('.');
  const other = Buffer.from(JSON.stringify(['b'.repeat(50), 'Otto', 'login_key', 'r-1', now])).toString('base64url');
  const forged = [createPrincipals('another secret', () => now).sign(agent), `${other}.${proof}`, payload, `.${proof}`];
  for (const token of [...forged, '', '.', undefined]) expect(() => verify(token)).toThrow(refused);
});
