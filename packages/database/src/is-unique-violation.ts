/** True when a unique index refused the statement (SQLSTATE 23505), as node-postgres reports it. */
export const isUniqueViolation = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === '23505';
