import { catalogue, type ErrorCode } from './catalogue.js';

/** A field of the request that was refused. `field` is its public name, dotted where nested. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface AppErrorOptions {
  /** One sentence for the caller; the catalogue's title stands when absent. */
  readonly detail?: string;
  readonly fields?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  /** More members of the problem body, such as `migration` of a deprecated path. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** The error behind this one: logged, never sent. */
  readonly cause?: unknown;
}

/** The one error that callers see. Everything in it but `cause` is public. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.detail ?? catalogue[code].title, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.fields = options.fields ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? (code === 'SERVICE_UNAVAILABLE' ? 1 : undefined);
    this.extra = options.extra ?? {};
  }
}

/**
 * Codes by which Node, node-postgres, Prisma, ioredis and PostgreSQL say that a dependency cannot be reached, cannot take more work or ran into
 * one of our deadlines, is read-only, and that a transaction lost its conflicts: whatever a later attempt may get through.
 * Sources: errno(3), Prisma's error reference, PostgreSQL appendix A (classes 08, 25, 28, 3D, 40, 53, 55, 57 and 58).
 */
const unavailable = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOENT'],
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034'],
  ...['08000', '08001', '08003', '08004', '08006', '28000', '28P01', '3D000', '53000', '53100', '53200', '53300'],
  ...['53400', '57P01', '57P02', '57P03', '57P04', '57P05', '58000', '58030'],
  ...['25006', '25P03', '25P04', '40001', '40P01', '55P03', '57014'],
]);

/** The connection has ended, or was not made. Poolers say so with codes of other errors: PgBouncer's are all 08P01. */
const endsConnection = (severity: unknown) => severity === 'FATAL' || severity === 'PANIC';

const driverKinds = new Set([
  ...['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections', 'TransactionWriteConflict'],
  ...['AuthenticationFailed', 'DatabaseDoesNotExist', 'DatabaseAccessDenied'],
]);

/** Messages of node-postgres and its pool that have no code. */
const driverMessages = new Set([
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
]);

function isUnavailable(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  const { code, kind, originalCode, message, cause, meta, severity } = error as Record<string, unknown>;
  return (
    [code, originalCode].some((value) => typeof value === 'string' && unavailable.has(value)) ||
    endsConnection(severity) ||
    (typeof kind === 'string' && driverKinds.has(kind)) ||
    (typeof message === 'string' && driverMessages.has(message)) ||
    isUnavailable(cause, depth + 1) ||
    isUnavailable((meta as Record<string, unknown> | undefined)?.driverAdapterError, depth + 1)
  );
}

/** Any thrown value as what the caller may know: an AppError as it is, a dependency that is down as 503, the rest as 500. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError(isUnavailable(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR', { cause: error });
}
