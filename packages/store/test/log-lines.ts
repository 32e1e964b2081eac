import type { Log } from '../src/index.js';

/** A log that is kept, to be read by a test. */
export function logLines(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (_: object, message: string) => void lines.push(message);
  return { lines, info: write, warn: write };
}
