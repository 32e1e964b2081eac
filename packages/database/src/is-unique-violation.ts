/** Whether a unique index refused the statement (SQLSTATE 23505), as node-postgres or Prisma's raw calls report it. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, meta } = (error ?? {}) as {
    code?: string;
    meta?: { driverAdapterError?: { cause?: { originalCode?: string } } };
  };
  return code === '23505' || meta?.driverAdapterError?.cause?.originalCode === '23505';
}
