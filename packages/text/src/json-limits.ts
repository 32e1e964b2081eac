export interface JsonLimits {
  /** The limit of the value as compact JSON in UTF-8. */
  readonly maxBytes: number;
  /** The outer object is level 1. */
  readonly maxDepth: number;
}

/**
 * The fault of a value that is to be kept as a JSON object, in words that follow the field's name; undefined when it is fine. It
 * refuses what PostgreSQL's jsonb cannot hold (NUL, unpaired surrogates), numbers beyond a double (`1e400` parses as infinity) and
 * members named `__proto__`. It goes level by level, so no depth overflows the stack.
 */
export function jsonFault(value: unknown, { maxBytes, maxDepth }: JsonLimits): string | undefined {
  if (!isPlainObject(value)) return 'must be a JSON object';
  let members = 0;
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return `must be at most ${maxDepth} levels deep`;
    const below: object[] = [];
    for (const nested of level) {
      const values: readonly unknown[] = Array.isArray(nested) ? nested : Object.values(nested);
      const fault = keysFault(nested) ?? valuesFault(values, below);
      if (fault !== undefined) return fault;
      members += values.length;
    }
    // A member takes two bytes at least, so what is far too large need not be written out to be measured.
    if (members * 2 > maxBytes) return tooLarge(maxBytes);
    level = below;
  }
  return Buffer.byteLength(JSON.stringify(value)) > maxBytes ? tooLarge(maxBytes) : undefined;
}

/** The characters that PostgreSQL refuses in a text: NUL and unpaired surrogates. */
export function textFault(text: string): 'nul' | 'surrogate' | undefined {
  if (text.includes('\0')) return 'nul';
  return text.isWellFormed() ? undefined : 'surrogate';
}

/** Length in Unicode code points. An unpaired surrogate counts as one. */
export function codePointLength(text: string): number {
  if (!/[\ud800-\udbff]/.test(text)) return text.length;
  let length = 0;
  for (let at = 0; at < text.length; length++) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return length;
}

const tooLarge = (maxBytes: number): string => `must be at most ${maxBytes} bytes as JSON`;

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function keysFault(nested: object): string | undefined {
  if (Array.isArray(nested)) return undefined;
  for (const key of Object.keys(nested)) {
    const fault = key === '__proto__' ? 'must not have a member __proto__' : stringFault(key);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The first fault of plain values. Nested ones are fine so far; they join the next level. */
function valuesFault(values: readonly unknown[], below: object[]): string | undefined {
  for (const value of values) {
    if (Array.isArray(value) || isPlainObject(value)) {
      below.push(value);
      continue;
    }
    const fault = plainFault(value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function plainFault(value: unknown): string | undefined {
  if (typeof value === 'string') return stringFault(value);
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'must not have numbers beyond 1.8e308';
  return value === null || typeof value === 'boolean' ? undefined : 'must be plain JSON';
}

function stringFault(text: string): string | undefined {
  const fault = textFault(text);
  if (fault === undefined) return undefined;
  return fault === 'nul' ? 'must not contain NUL characters' : 'must not contain unpaired surrogates';
}
