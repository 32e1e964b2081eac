/** Whether a unique index refused the statement (SQLSTATE 23505), as Prisma's raw calls report it. */
export function isUniqueViolation(error: unknown): boolean {
  const { meta } = (error ?? {}) as { meta?: { driverAdapterError?: { cause?: { originalCode?: string } } } };
  return meta?.driverAdapterError?.cause?.originalCode === '23505';
}
