import type { Log } from '@acsp/telemetry';

export interface LogLine extends Record<string, unknown> {
  readonly level: string;
  readonly message: string;
}

/** A log whose lines end up in an array. */
export function collectLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: string) => (fields: object, message: string) => void lines.push({ ...fields, level, message });
  return { log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }, lines };
}
