import type { Log } from '@acsp/telemetry';

export interface LogLine extends Record<string, unknown> {
  readonly level: string;
  readonly message: string;
}

function logTo(write: (line: LogLine) => void): Log {
  const at = (level: string) => (fields: object, message: string) => write({ ...fields, level, message });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A log that says what went wrong only when asked: DEBUG_TESTS=1. */
export const quietLog: Log = logTo(({ level, message, ...fields }) => {
  if (process.env.DEBUG_TESTS) process.stderr.write(`${level} ${message} ${describe(fields)}\n`);
});

const describe = (fields: object) =>
  JSON.stringify(fields, (_, value) => (value instanceof Error ? String(value) : value));

/** A log whose lines end up in an array. */
export function collectLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  return { log: logTo((line) => void lines.push(line)), lines };
}
