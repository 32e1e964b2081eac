import { AppError } from '@acsp/errors';

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
    const quote = raw.indexOf(QUOTE, from);
    if (quote < 0) throw new AppError('INVALID_JSON');
    // An odd number of backslashes in front makes the quote a part of the text.
    let backslashes = 0;
    while (quote - backslashes > from && raw[quote - backslashes - 1] === BACKSLASH) backslashes += 1;
    from = quote + 1;
    if (backslashes % 2 === 0) return from;
  }
}

/** Offset behind the value that starts at `at`: a string, an object or array with all that is in it, or a bare word. */
export function endOfValue(raw: Buffer, at: number): number {
  const first = raw[at];
  if (first === QUOTE) return endOfString(raw, at);
  if (isOpening(first)) return endOfContainer(raw, at);
  let end = at;
  while (end < raw.length && raw[end] !== COMMA && !isClosing(raw[end]) && !isSpace(raw[end])) end += 1;
  return end;
}

function endOfContainer(raw: Buffer, at: number): number {
  let depth = 0;
  let next = at;
  while (next < raw.length) {
    const byte = raw[next];
    if (byte === QUOTE) {
      next = endOfString(raw, next);
      continue;
    }
    next += 1;
    if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) depth -= 1;
    if (depth === 0) return next;
  }
  throw new AppError('INVALID_JSON');
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isOpening = (byte: number | undefined) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number | undefined) => byte === 0x7d || byte === 0x5d;
