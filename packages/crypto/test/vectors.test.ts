import { readFileSync } from 'node:fs';
import { AppError } from '@acsp/errors';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import {
  aidOf,
  isAid,
  isPublicKey,
  isStrongPublicKey,
  isWeakPublicKey,
  sign,
  signedBody,
  signedTarget,
  verify,
} from '../src/index.js';

interface Signature {
  name: string;
  private_key?: string;
  public_key: string;
  message: string;
  signature: string;
  valid: boolean;
}
interface Signed {
  name: string;
  body: string;
  target: string;
  parameter: 'signature' | 'sig';
  signed: string;
  signature: string | null;
}
type Target = Pick<Signed, 'parameter' | 'target'>;

function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(`./vectors/${file}`, import.meta.url), 'utf8'));
}

/** R is the base point and S is 1: to a lax verifier a signature of every message, under any key of small order. */
const fitsSmallOrder = `58${'66'.repeat(31)}01${'00'.repeat(31)}`;

const refusal = (code: string) => expect.objectContaining({ constructor: AppError, code });

describe('ed25519.json', () => {
  test.each(read<{ cases: Signature[] }>('ed25519.json').cases)('$name', (vector) => {
    const message = Buffer.from(vector.message, 'hex');
    expect(verify(vector.public_key, message, vector.signature)).toBe(vector.valid);
    if (vector.private_key !== undefined) expect(sign(vector.private_key, message)).toBe(vector.signature);
  });
});

describe('public-keys.json', () => {
  const { cases } = read<{ cases: { name: string; public_key: string; accepted: boolean }[] }>('public-keys.json');
  test.each(cases)('$name', ({ name, public_key, accepted }) => {
    expect(isStrongPublicKey(public_key)).toBe(accepted);
    const unusable = name === 'not on the curve' || !isPublicKey(public_key);
    if (!unusable) expect(isWeakPublicKey(public_key.toLowerCase())).toBe(!accepted);
    if (!accepted) expect(verify(public_key, Buffer.from('any message'), fitsSmallOrder)).toBe(false);
  });

  test('a point of the curve is weak by its text exactly where its order or its form say so', () => {
    const tail = fc.constantFrom('7f', 'ff', '80', '00', '7e');
    const nearPrime = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.constantFrom('ff', '00', 'fe'), tail);
    const text = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      nearPrime.map(([low, middle, last]) => low.toString(16).padStart(2, '0') + middle.repeat(30) + last),
    );
    fc.assert(
      fc.property(text, (publicKey) => {
        const onCurve = isPoint(publicKey);
        if (onCurve) expect(isWeakPublicKey(publicKey)).toBe(!isStrongPublicKey(publicKey));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** True when even the lax decoding takes it for a point. */
function isPoint(publicKey: string): boolean {
  try {
    ed25519.Point.fromHex(publicKey, true);
    return true;
  } catch {
    return false;
  }
}

test.each(read<{ cases: { public_key: string; aid: string }[] }>('aids.json').cases)('aids.json: $aid', (vector) => {
  expect(aidOf(vector.public_key)).toBe(vector.aid);
  expect(aidOf(vector.public_key.toUpperCase())).toBe(vector.aid);
  expect(isAid(vector.aid)).toBe(true);
  expect(isAid(vector.aid.toUpperCase())).toBe(false);
});

describe('signed-bodies.json', () => {
  const file = read<{ public_key: string; cases: Signed[]; not_text: string[]; refused: string[] }>(
    'signed-bodies.json',
  );
  test.each(file.cases)('$name', ({ body, signed, signature }) => {
    const found = signedBody(Buffer.from(body));
    expect(found.bytes.toString()).toBe(signed);
    expect(found.signature ?? null).toBe(signature);
    if (signature !== null) expect(verify(file.public_key, found.bytes, signature)).toBe(true);
  });
  test.each(file.not_text)('tells a signature that is not a string: %s', (body: string) => {
    expect(signedBody(Buffer.from(body)).signature).toBeNull();
  });
  test.each(file.refused)('refuses %s', (body: string) => {
    expect(() => signedBody(Buffer.from(body))).toThrow(refusal('INVALID_JSON'));
  });
});

describe('signed-targets.json', () => {
  const file = read<{ public_key: string; cases: Signed[]; refused: Target[] }>('signed-targets.json');
  test.each(file.cases)('$name: $target', ({ parameter, target, signed, signature }) => {
    const found = signedTarget(target, parameter);
    expect(found.bytes.toString()).toBe(signed);
    expect(found.signature ?? null).toBe(signature);
    if (signature !== null) expect(verify(file.public_key, found.bytes, signature)).toBe(true);
  });
  test.each(file.refused)('refuses $target', ({ parameter, target }) => {
    expect(() => signedTarget(target, parameter)).toThrow(refusal('INVALID_FIELD'));
  });
});
