import { createLogger, type Logger } from '../src/index.js';

/** A real logger whose lines end up in an array, parsed. */
export function collectLog(): { readonly log: Logger; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { log: createLogger({ name: 'test', level: 'trace', destination }), lines };
}
