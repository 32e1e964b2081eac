import type { Log } from '@acsp/telemetry';

/** Says what went wrong only when asked: DEBUG_TESTS=1. */
const write = (level: string) => (fields: object, message: string) => {
  if (process.env.DEBUG_TESTS) process.stderr.write(`${level} ${message} ${describe(fields)}\n`);
};

const describe = (fields: object) =>
  JSON.stringify(fields, (_, value) => (value instanceof Error ? String(value) : value));

export const quietLog: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
