import { AppError } from '@acsp/errors';

/** The bytes that give JSON its structure. */
export const byte = {
  quote: 0x22,
  backslash: 0x5c,
  colon: 0x3a,
  comma: 0x2c,
  braceOpen: 0x7b,
  braceClose: 0x7d,
} as const;

/** Offset of the first byte from `at` on that is not JSON white space. */
export function skipSpace(raw: Buffer, at: number): number {
  let next = at;
  while (isSpace(raw[next])) next += 1;
  return next;
}

/** Offset behind the closing quote of the string that opens at `at`. */
export function endOfString(raw: Buffer, at: number): number {
  let from = at + 1;
  for (;;) {
    const quote = raw.indexOf(byte.quote, from);
    if (quote < 0) throw new AppError('INVALID_JSON');
    // An odd number of backslashes in front makes the quote a part of the text.
    let backslashes = 0;
    while (quote - backslashes > from && raw[quote - backslashes - 1] === byte.backslash) backslashes += 1;
    from = quote + 1;
    if (backslashes % 2 === 0) return from;
  }
}

/** Offset behind the value that starts at `at`: a string, an object or array with all that is in it, or a bare word. */
export function endOfValue(raw: Buffer, at: number): number {
  const first = raw[at];
  if (first === byte.quote) return endOfString(raw, at);
  if (isOpening(first)) return endOfContainer(raw, at);
  let end = at;
  while (end < raw.length && raw[end] !== byte.comma && !isClosing(raw[end]) && !isSpace(raw[end])) end += 1;
  return end;
}

function endOfContainer(raw: Buffer, at: number): number {
  let depth = 0;
  let next = at;
  while (next < raw.length) {
    const here = raw[next];
    if (here === byte.quote) {
      next = endOfString(raw, next);
      continue;
    }
    next += 1;
    if (isOpening(here)) depth += 1;
    else if (isClosing(here)) depth -= 1;
    if (depth === 0) return next;
  }
  throw new AppError('INVALID_JSON');
}

const isSpace = (here: number | undefined) => here === 0x20 || here === 0x0a || here === 0x0d || here === 0x09;
const isOpening = (here: number | undefined) => here === 0x7b || here === 0x5b;
const isClosing = (here: number | undefined) => here === 0x7d || here === 0x5d;
