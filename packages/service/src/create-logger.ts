import { traceId } from '@acsp/telemetry';
import {
  type DestinationStream,
  destination as openDestination,
  type Logger as PinoLogger,
  pino,
  stdTimeFunctions,
} from 'pino';
import { redact, scrub } from './redact.js';

export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly name: string;
  /** `info` when absent. */
  readonly level?: string;
  /** Standard output when absent. */
  readonly destination?: DestinationStream;
}

/** Fields of child loggers do not pass the formatter below, so pino hides these by itself. */
const secretBindings = ['login_key', 'authorization', 'signature', 'sig', 'token', 'private_key', 'webhook_secret'];

/** JSON lines with `level`, `time` (ISO 8601), `service`, the fields, `trace_id` inside a span, and `msg`. Secrets are taken out. */
export function createLogger({ name, level = 'info', destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service: name },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: formatFields },
      redact: { paths: secretBindings, censor: '[redacted]' },
      hooks: { streamWrite: scrub },
    },
    destination ?? standardOutput(),
  );
}

const flushMs = 100;

/** Lines are written together, while the event loop goes on: a write for each would be a tenth of a request. Pino writes out the rest at exit. */
function standardOutput(): DestinationStream {
  const output = openDestination({ fd: 1, sync: false, minLength: 4096 });
  setInterval(() => output.flush(), flushMs).unref();
  return output;
}

function formatFields(fields: Record<string, unknown>): Record<string, unknown> {
  const safe = redact(fields) as Record<string, unknown>;
  const trace = traceId();
  return trace === undefined ? safe : { ...safe, trace_id: trace };
}
