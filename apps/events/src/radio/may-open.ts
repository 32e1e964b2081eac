import type { Radio as Row } from '../generated/prisma/client.js';
import type { Grant } from '../token/tokens.js';

/** How often it is written down that streams are open. */
export const aliveEveryMs = 20_000;
const takeUpMs = 120_000;

interface Opening {
  readonly now: Date;
  /** The client says what it has last. */
  readonly resumes: boolean;
}

/** A token opens streams while it lasts, and takes up the one that it had open until a moment ago, however old it is (decisions 6.5). */
export function mayOpen(
  { expires_at }: Grant,
  row: Pick<Row, 'alive_at' | 'ended_at'> | null,
  opening: Opening,
): boolean {
  const { now, resumes } = opening;
  if (now <= expires_at) return true;
  if (row === null || !resumes) return false;
  // A process that was killed has not written down when the stream ended.
  const endedAt = row.ended_at?.getTime() ?? row.alive_at.getTime() + aliveEveryMs;
  return now.getTime() - endedAt <= takeUpMs;
}
