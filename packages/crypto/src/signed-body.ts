import { AppError } from '@acsp/errors';
import { byte, endOfString, endOfValue, skipSpace } from './json-bytes.js';

export interface SignedBody {
  /** Lowercased text of the top-level member `signature`; undefined without one; null when its value is not a string. */
  readonly signature: string | null | undefined;
  /** The signed bytes: the body without that member. */
  readonly bytes: Buffer;
}

interface Member {
  readonly value: Buffer;
  /** Offsets of what is taken out. */
  readonly from: number;
  readonly to: number;
}

/**
 * Takes the top-level member `signature` out of a JSON body as it was sent, with one comma: the one before it if it is the last member,
 * otherwise the one after it, and the white space in between. Nothing is parsed and written again, so every serialiser's text survives.
 * A body that is not an object has no signature.
 * @throws AppError INVALID_JSON when there are two such members, or when the text breaks off. Other faults are left to the JSON parser.
 */
export function signedBody(raw: Buffer): SignedBody {
  const member = findSignature(raw);
  if (member === undefined) return { signature: undefined, bytes: raw };
  const bytes = Buffer.allocUnsafe(raw.length - (member.to - member.from));
  raw.copy(bytes, 0, 0, member.from);
  raw.copy(bytes, member.from, member.to);
  return { signature: textOf(member.value), bytes };
}

function findSignature(raw: Buffer): Member | undefined {
  const open = skipSpace(raw, 0);
  if (raw[open] !== byte.braceOpen) return undefined;
  let found: Member | undefined;
  let commaBefore = -1;
  let key = skipSpace(raw, open + 1);
  if (raw[key] === byte.braceClose) return undefined;

  while (raw[key] === byte.quote) {
    const keyEnd = endOfString(raw, key);
    const colon = skipSpace(raw, keyEnd);
    if (raw[colon] !== byte.colon) break;
    const value = skipSpace(raw, colon + 1);
    const valueEnd = endOfValue(raw, value);
    const after = skipSpace(raw, valueEnd);
    const last = raw[after] === byte.braceClose;
    if (!last && raw[after] !== byte.comma) break;
    const next = last ? after : skipSpace(raw, after + 1);

    if (isSignatureKey(raw, key, keyEnd)) {
      if (found !== undefined) throw new AppError('INVALID_JSON', { detail: 'Body has two members named signature' });
      const whole =
        last && commaBefore >= 0 ? { from: commaBefore, to: valueEnd } : { from: key, to: last ? valueEnd : next };
      found = { value: raw.subarray(value, valueEnd), ...whole };
    }
    if (last) return found;
    commaBefore = after;
    key = next;
  }
  throw new AppError('INVALID_JSON');
}

/** The JSON parser decodes escapes in names, so `"\u0073ignature"` is this member too. */
function isSignatureKey(raw: Buffer, start: number, end: number): boolean {
  if (end - start === plainKey.length) return plainKey.compare(raw, start, end) === 0;
  for (let at = start; at < end; at += 1) {
    if (raw[at] === byte.backslash) return parse(raw.subarray(start, end)) === 'signature';
  }
  return false;
}

function textOf(value: Buffer): string | null {
  const text = value[0] === byte.quote ? parse(value) : null;
  return typeof text === 'string' ? text.toLowerCase() : null;
}

function parse(token: Buffer): unknown {
  try {
    return JSON.parse(token.toString());
  } catch {
    // Without its cause: the parser quotes the text, and signatures don't belong in logs.
    throw new AppError('INVALID_JSON');
  }
}

const plainKey = Buffer.from('"signature"');
