import { AppError } from '@acsp/errors';

/**
 * A command that failed, for whatever reason, is SERVICE_UNAVAILABLE. Errors of ioredis carry the command and those of node-postgres the row;
 * both may hold secrets, which logs must not see: message and code are all that is kept of the cause.
 */
export function unavailable(problem: unknown): AppError {
  if (problem instanceof AppError) return problem;
  const { message = 'The store failed', code } = problem as { readonly message?: string; readonly code?: string };
  return new AppError('SERVICE_UNAVAILABLE', { cause: Object.assign(new Error(message), { code }) });
}
