import type { AppError, FieldError } from './app-error.js';
import { catalogue, type ErrorCode } from './catalogue.js';

/** The body of every refused request: RFC 9457, media type `application/problem+json`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly errors?: readonly FieldError[];
  readonly retry_after_seconds?: number;
}

export function toProblem(error: AppError, requestId: string): Problem {
  const { http, title } = catalogue[error.code];
  return {
    ...error.extra,
    type: `urn:acsp:error:${error.code.toLowerCase().replaceAll('_', '-')}`,
    title,
    status: http,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.fields.length > 0 && { errors: error.fields }),
    ...(error.retryAfterSeconds !== undefined && { retry_after_seconds: error.retryAfterSeconds }),
  };
}
