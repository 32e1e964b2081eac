import type { Log } from '@acsp/telemetry';

/** A log that is kept, to be read by a test. */
export function logLines(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (_: object, message: string) => void lines.push(message);
  return { lines, debug: write, info: write, warn: write, error: write };
}
