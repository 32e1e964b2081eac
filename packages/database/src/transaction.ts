import { pause } from '@acsp/time';

const maxAttempts = 5;
const conflicts = new Set(['P2034', '40001', '40P01', 'TransactionWriteConflict']);

/** Runs a transaction again when it lost a conflict or a deadlock: up to five times, with a growing random backoff. */
export async function retryConflicts<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === maxAttempts || !isConflict(error)) throw error;
      await pause(Math.random() * 10 * 2 ** attempt);
    }
  }
}

/** Prisma reports the same conflict in four forms: of its own calls, of raw ones, of the adapter and of node-postgres. */
function isConflict(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 3) return false;
  const { code, kind, cause, meta } = error as Record<string, unknown>;
  if (conflicts.has(String(code)) || conflicts.has(String(kind))) return true;
  const adapterError = (meta as Record<string, unknown> | undefined)?.driverAdapterError;
  return isConflict(cause, depth + 1) || isConflict(adapterError, depth + 1);
}
