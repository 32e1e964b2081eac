import { isSecretName, redact, scrub } from './redact.js';

test.each([
  'login_key',
  'loginKey',
  'authorization',
  'Authorization',
  'signature',
  'X-Signature',
  'sig',
  'token',
  'connect_token',
  'private_key',
  'webhook_secret',
  'encrypted_keys',
  'encryptedContent',
  'group_commitment_proof',
])('%s is the name of a secret', (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each(['aid', 'login_key_expires', 'design', 'public_key', 'tokens_used', 'signal', 'principal'])(
  '%s is not the name of a secret',
  (name) => {
    expect(isSecretName(name)).toBe(false);
  },
);

test('a value without secrets comes back as the same object', () => {
  const value = { a: 1, list: [{ b: null }], text: 'x' };
  expect(redact(value)).toBe(value);
});

test('an absent secret is told from a hidden one', () => {
  expect(redact({ login_key: null, token: 'x' })).toEqual({ login_key: null, token: '[redacted]' });
});

test('text keeps all but its secrets', () => {
  expect(scrub('a=1&token=2 ?token=abc#x https://u:p@h/ nk_short')).toBe(
    'a=1&token=[redacted] ?token=[redacted]#x https://u:[redacted]@h/ nk_short',
  );
});
