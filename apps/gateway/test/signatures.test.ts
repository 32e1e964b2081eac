import { aidOf, generateKeyPair } from '@acsp/crypto';
import type { Principal } from '@acsp/operation';
import type { TestAgent } from './support/fake-identity.js';
import { now, signatureOf, signed, signedInPython, signedTarget } from './support/signed.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;
let agent: TestAgent;
const caller = () => gateway.service.seen.at(-1)?.caller as Principal;
const code = async (path: string, body: object | string) => (await gateway.post(path, body)).json?.code;

beforeAll(async () => {
  gateway = await testGateway();
  agent = gateway.identity.register();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const thread = () => ({
  initiator_aid: agent.aid,
  initial_offer: { price: 1e-7, note: 'é, "x": 1' },
  timestamp: now(),
});

test.each([
  ['JavaScript', signed],
  ['Python', signedInPython],
])('takes a signature in the body as %s writes it', async (_, write) => {
  const body = write(agent, thread());
  expect((await gateway.post('thread/create', body)).status).toBe(200);
  expect(gateway.service.seen.at(-1)?.body.toString()).toBe(body);
  expect(caller()).toEqual({
    aid: agent.aid,
    name: 'signer',
    via: 'signature',
    requestId: expect.any(String),
    registeredAt: agent.registeredAt,
    signedAt: expect.any(Number),
    rpc: 'acsp.messaging.v1.MessagingService/CreateThread',
  });
});

test('takes a signature that is the first member', async () => {
  const text = JSON.stringify(thread());
  const body = `{"signature": "${signatureOf(agent, text).toUpperCase()}", ${text.slice(1)}`;
  expect((await gateway.post('thread/create', body)).status).toBe(200);
});

test('takes a signature in X-Signature, over the whole body', async () => {
  const text = JSON.stringify(thread());
  const headers = { 'x-signature': signatureOf(agent, text) };
  expect((await gateway.post('thread/create', text, { headers })).status).toBe(200);
});

test('takes header and body together when they are equal or both verify', async () => {
  const text = JSON.stringify(thread());
  const equal = `${text.slice(0, -1)},"signature":"${signatureOf(agent, text)}"}`;
  expect(
    (await gateway.post('thread/create', equal, { headers: { 'x-signature': signatureOf(agent, text) } })).status,
  ).toBe(200);
  const both = signed(agent, thread());
  expect(
    (await gateway.post('thread/create', both, { headers: { 'x-signature': signatureOf(agent, both) } })).status,
  ).toBe(200);
  const other = signed(agent, thread());
  const reply = await gateway.post('thread/create', other, { headers: { 'x-signature': signatureOf(agent, 'other') } });
  expect(reply.json).toMatchObject({ status: 401, code: 'INVALID_SIGNATURE' });
});

test('takes a signature in the query, over the target as it was sent', async () => {
  const target = signedTarget(
    agent,
    `threads?aid=${agent.aid}&status=open%20%7c&timestamp=${encodeURIComponent(now())}`,
  );
  expect((await gateway.get(target)).status).toBe(200);
  expect((await gateway.get(target)).status).toBe(200);
  expect((await gateway.get(target.replace('%7c', '%7C'))).json).toMatchObject({ code: 'INVALID_SIGNATURE' });
});

test('takes sig and ts on the gap-fill', async () => {
  const target = signedTarget(agent, `events/stream?aid=${agent.aid}&ts=${now()}`, 'sig');
  expect((await gateway.get(target)).status).toBe(200);
});

test.each([
  ['a changed byte', () => signed(agent, thread()).replace('"price"', '"Price"'), 'INVALID_SIGNATURE'],
  ["someone else's key", () => signed(gateway.identity.register(), thread()), 'INVALID_SIGNATURE'],
  ['a signature that is not hex', () => JSON.stringify({ ...thread(), signature: 'x' }), 'INVALID_SIGNATURE'],
  ['a signature that is no text', () => JSON.stringify({ ...thread(), signature: 5 }), 'INVALID_SIGNATURE'],
  ['no signature', () => JSON.stringify(thread()), 'AUTH_REQUIRED'],
  ['a signature of null', () => JSON.stringify({ ...thread(), signature: null }), 'AUTH_REQUIRED'],
  ['two signatures', () => `{"signature":"a",${signed(agent, thread()).slice(1)}`, 'INVALID_JSON'],
  [
    'an AID that nobody registered',
    () => signed(agent, { ...thread(), initiator_aid: 'f'.repeat(50) }),
    'AID_NOT_FOUND',
  ],
  ['a malformed AID', () => signed(agent, { ...thread(), initiator_aid: 'F'.repeat(50) }), 'INVALID_AID'],
  ['no AID', () => signed(agent, { timestamp: now() }), 'INVALID_AID'],
  ['no timestamp', () => signed(agent, { initiator_aid: agent.aid }), 'INVALID_TIMESTAMP'],
  ['a malformed timestamp', () => signed(agent, { ...thread(), timestamp: 'now' }), 'INVALID_TIMESTAMP'],
  ['a timestamp that is no text', () => signed(agent, { ...thread(), timestamp: 1 }), 'INVALID_TIMESTAMP'],
  ['an old timestamp', () => signed(agent, { ...thread(), timestamp: now(-310) }), 'TIMESTAMP_OUT_OF_RANGE'],
  ['a timestamp from the future', () => signed(agent, { ...thread(), timestamp: now(310) }), 'TIMESTAMP_OUT_OF_RANGE'],
])('refuses %s', async (_, body, expected) => {
  expect(await code('thread/create', body())).toBe(expected);
});

test('takes drift up to five minutes, and one minute for groups', async () => {
  const at = (seconds: number) => signed(agent, { aid: agent.aid, n: seconds, timestamp: now(seconds) });
  expect((await gateway.post('thread/message', at(-290))).status).toBe(200);
  expect((await gateway.post('thread/message', at(290))).status).toBe(200);
  expect((await gateway.post('group/join', at(-50))).status).toBe(200);
  expect(await code('group/join', at(-70))).toBe('TIMESTAMP_OUT_OF_RANGE');
});

test('needs no timestamp where the interface lists none, and refuses an old one', async () => {
  expect((await gateway.post('beaver', signed(agent, { aid_a: agent.aid }))).status).toBe(200);
  expect(await code('beaver', signed(agent, { aid_a: agent.aid, timestamp: now(-310) }))).toBe(
    'TIMESTAMP_OUT_OF_RANGE',
  );
});

test('takes a signature on message/send in Form B alone', async () => {
  const form = { sender_aid: agent.aid, recipient_aid: 'f'.repeat(50), timestamp: now() };
  expect((await gateway.post('message/send', signed(agent, form))).status).toBe(200);
  const { recipient_aid: _, ...other } = form;
  expect(await code('message/send', signed(agent, { ...other, target_aid: 'f'.repeat(50) }))).toBe('AUTH_REQUIRED');
});

describe('register', () => {
  const weak = '0100000000000000000000000000000000000000000000000000000000000000';
  const newcomer = generateKeyPair();
  const fields = () => ({ public_key: newcomer.publicKey, agent_name: 'new', timestamp: now() });

  test('takes the key of the body as proof of itself', async () => {
    expect((await gateway.post('register', signed(newcomer, fields()))).status).toBe(200);
    expect(caller()).toMatchObject({ aid: aidOf(newcomer.publicKey), name: '', via: 'signature' });
  });

  test('takes Form B, with the AID that the key gives', async () => {
    const form = {
      aid: aidOf(newcomer.publicKey),
      ed25519_pubkey: newcomer.publicKey,
      capabilities: 'a',
      timestamp: now(),
    };
    expect((await gateway.post('register', signedInPython(newcomer, form))).status).toBe(200);
  });

  test.each([
    ['no key', () => signed(newcomer, { timestamp: now() }), 'MISSING_FIELDS'],
    ['a malformed key', () => signed(newcomer, { ...fields(), public_key: 'x' }), 'INVALID_PUBLIC_KEY'],
    ['a weak key', () => signed(newcomer, { ...fields(), public_key: weak }), 'INVALID_PUBLIC_KEY'],
    [
      'no point of the curve',
      () => signed(newcomer, { ...fields(), public_key: 'ab'.repeat(32) }),
      'INVALID_PUBLIC_KEY',
    ],
    ["another key's AID", () => signed(newcomer, { ...fields(), aid: agent.aid }), 'INVALID_AID'],
    ['no signature', () => JSON.stringify(fields()), 'MISSING_FIELDS'],
    ['no timestamp', () => signed(newcomer, { public_key: newcomer.publicKey }), 'INVALID_TIMESTAMP'],
    ['an old timestamp', () => signed(newcomer, { ...fields(), timestamp: now(-310) }), 'INVALID_TIMESTAMP'],
    ["someone else's signature", () => signed(agent, fields()), 'INVALID_SIGNATURE'],
  ])('refuses %s', async (_, body, expected) => {
    expect(await code('register', body())).toBe(expected);
  });
});

describe.each([
  ['agent-init', 'MISSING_FIELDS', 'MISSING_FIELDS', 'MISSING_FIELDS'],
  ['revoke', 'AUTH_REQUIRED', 'INVALID_AID', 'INVALID_PUBLIC_KEY'],
])('%s', (path, unsigned, noAid, noKey) => {
  const fields = () => ({ aid: agent.aid, public_key: agent.publicKey, timestamp: now() });

  test('takes the registered key', async () => {
    expect((await gateway.post(path, signed(agent, fields()))).status).toBe(200);
    expect(caller()).toMatchObject({ aid: agent.aid, via: 'signature' });
  });

  test.each([
    ['no AID', () => signed(agent, { ...fields(), aid: undefined }), noAid],
    ['a malformed AID', () => signed(agent, { ...fields(), aid: 'x', public_key: 'x' }), 'INVALID_AID'],
    ['no key', () => signed(agent, { ...fields(), public_key: null }), noKey],
    [
      'a malformed key',
      () => signed(agent, { ...fields(), aid: 'f'.repeat(50), public_key: 'x' }),
      'INVALID_PUBLIC_KEY',
    ],
    ['an unknown AID', () => signed(agent, { ...fields(), aid: 'f'.repeat(50) }), 'AID_NOT_FOUND'],
    [
      'another key',
      () => signed(agent, { ...fields(), public_key: generateKeyPair().publicKey, timestamp: 'x' }),
      'KEY_MISMATCH',
    ],
    ['no signature', () => JSON.stringify({ ...fields(), timestamp: 'x' }), unsigned],
    ['an old timestamp', () => signed(generateKeyPair(), { ...fields(), timestamp: now(-310) }), 'INVALID_TIMESTAMP'],
    ["someone else's signature", () => signed(generateKeyPair(), fields()), 'INVALID_SIGNATURE'],
  ])('refuses %s', async (_, body, expected) => {
    expect(await code(path, body())).toBe(expected);
  });
});

test('asks for a signature before it looks at fields, but where the signature is a field', async () => {
  expect(await code('revoke', {})).toBe('AUTH_REQUIRED');
  expect(await code('thread/create', {})).toBe('AUTH_REQUIRED');
  expect(await code('register', {})).toBe('MISSING_FIELDS');
  expect(await code('agent-init', { aid: agent.aid })).toBe('MISSING_FIELDS');
});

test('registers by agent-init where nothing of a key is given', async () => {
  expect((await gateway.post('agent-init', { agent_name: 'x', capabilities: ['a'] })).status).toBe(200);
  expect(caller().via).toBe('anonymous');
});

test('tells the two forms of revoke apart by attestation_id', async () => {
  const form = { attestation_id: 'x', attester_aid: agent.aid, revoke_reason: 'y' };
  expect((await gateway.post('revoke', signed(agent, form))).status).toBe(200);
});

test('tells the two forms of attest apart by the subject', async () => {
  const rating = { attester_aid: agent.aid, subject_aid: 'f'.repeat(50), rating: 5 };
  expect((await gateway.post('attest', signed(agent, rating))).status).toBe(200);
  expect((await gateway.post('attest', { target_aid: 'f'.repeat(50) }, bearer(agent.loginKey))).status).toBe(200);
  expect(await code('attest', signed(agent, { ...rating, target_aid: 'f'.repeat(50) }))).toBe('AUTH_REQUIRED');
});

test('reads a document by signature or by AID alone, but not by a wrong signature', async () => {
  const target = `workspace/document/doc_1?aid=${agent.aid}&timestamp=${now()}`;
  await gateway.get(signedTarget(agent, target));
  expect(caller().via).toBe('signature');
  await gateway.get(target);
  expect(caller().via).toBe('aid');
  expect((await gateway.get(`${target}&signature=00`)).json).toMatchObject({ code: 'INVALID_SIGNATURE' });
});

test('a signature from before the present registration is refused, one from then on is taken', async () => {
  const again = gateway.identity.register({ signedFrom: new Date(now(-60)) });
  const thread = (seconds: number) => signed(again, { initiator_aid: again.aid, timestamp: now(seconds) });
  expect(await code('thread/create', thread(-90))).toBe('TIMESTAMP_OUT_OF_RANGE');
  expect((await gateway.post('thread/create', thread(-30))).status).toBe(200);
  const target = (seconds: number) => signedTarget(again, `threads?aid=${again.aid}&timestamp=${now(seconds)}`);
  expect((await gateway.get(target(-90))).json).toMatchObject({ code: 'TIMESTAMP_OUT_OF_RANGE' });
  expect((await gateway.get(target(-30))).status).toBe(200);
});
