import { randomUUID } from 'node:crypto';
import { createTokens } from './tokens.js';

const grant = {
  token_id: randomUUID(),
  aid: 'a'.repeat(50),
  since: new Date('2026-01-02T03:04:05.678Z'),
  expires_at: new Date('2026-01-02T03:09:05Z'),
};
const [old, replaced] = ['1'.repeat(32), '2'.repeat(32)];
const refused = expect.objectContaining({ code: 'INVALID_TOKEN' });

test('a token says whose it is, and until when, after its end too', async () => {
  const tokens = createTokens([old]);
  await expect(tokens.verify(await tokens.sign(grant))).resolves.toEqual(grant);
});

test('a token outlives the replacement of the secret, and not its removal', async () => {
  const token = await createTokens([old]).sign(grant);
  await expect(createTokens([replaced, old]).verify(token)).resolves.toEqual(grant);
  await expect(createTokens([replaced]).verify(token)).rejects.toEqual(refused);
});

test('refuses what is no token of ours', async () => {
  const tokens = createTokens([old]);
  const [header = '', payload = '', signature = ''] = (await tokens.sign(grant)).split('.');
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
  const other = Buffer.from(JSON.stringify({ sub: 'b'.repeat(50) })).toString('base64url');
  const forged = [
    '',
    'x',
    'a.b.c',
    `${unsigned}.${payload}.`,
    `${header}.${other}.${signature}`,
    `${header}.${payload}`,
  ];
  for (const token of forged) await expect(tokens.verify(token)).rejects.toEqual(refused);
});
