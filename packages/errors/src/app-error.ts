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
  /** What happened inside: logged, never sent. */
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
 * Codes by which Node, node-postgres, Prisma, ioredis and PostgreSQL say that a dependency cannot be reached or cannot take more work.
 * Sources: errno(3), Prisma's error reference, PostgreSQL appendix A (classes 08, 53 and 57).
 */
const unavailable = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOENT'],
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024'],
  ...['08000', '08001', '08003', '08006', '53300', '57P01', '57P02', '57P03'],
]);

const driverKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']);

function isUnavailable(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  const { code, kind, originalCode, cause, meta } = error as Record<string, unknown>;
  return (
    [code, originalCode].some((value) => typeof value === 'string' && unavailable.has(value)) ||
    (typeof kind === 'string' && driverKinds.has(kind)) ||
    isUnavailable(cause, depth + 1) ||
    isUnavailable((meta as Record<string, unknown> | undefined)?.['driverAdapterError'], depth + 1)
  );
}

/** Any thrown value as what the caller may know: an AppError as it is, a dependency that is down as 503, the rest as 500. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError(isUnavailable(error) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR', { cause: error });
}
