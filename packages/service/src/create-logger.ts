import { traceId } from '@acsp/telemetry';
import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { redact, scrub } from './redact.js';

export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly name: string;
  /** `info` when absent. */
  readonly level?: string;
  /** Standard output as it is when absent. */
  readonly destination?: DestinationStream;
}

/** Fields of child loggers do not pass the formatter below, so pino hides these by itself. */
const secretBindings = ['login_key', 'authorization', 'signature', 'sig', 'token', 'private_key', 'webhook_secret'];

/** JSON lines with `level`, `time` (ISO 8601), `service`, the fields, `trace_id` inside a span, and `msg`. Secrets are redacted. */
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
    destination ?? process.stdout,
  );
}

function formatFields(fields: Record<string, unknown>): Record<string, unknown> {
  const safe = redact(fields) as Record<string, unknown>;
  const trace = traceId();
  return trace === undefined ? safe : { ...safe, trace_id: trace };
}
