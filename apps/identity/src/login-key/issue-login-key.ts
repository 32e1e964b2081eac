import type { LoginKeyEventSchema } from '@acsp/contracts/identity/v1/events';
import { emit, type Transaction } from '@acsp/database';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Prisma, type PrismaClient } from '../generated/prisma/client.js';
import type { NewLoginKey } from './new-login-key.js';

/** Live keys of one agent. */
const maxLiveKeys = 10;

/** Gives a locked agent another login key, in place of the oldest where it has as many as it may. */
export async function issueLoginKey(tx: Transaction<PrismaClient>, aid: string, key: NewLoginKey): Promise<void> {
  const [issued] = await tx.$queryRaw<{ dropped: number }[]>(issueStatement(aid, key));
  if (issued === undefined || issued.dropped === 0) return;
  await emit(tx, {
    type: 'login_key.dropped',
    audience: [],
    actor: aid,
    payload: { aid } satisfies MessageInitShape<typeof LoginKeyEventSchema>,
  });
}

/** Also clears away the agent's expired keys, so that it never leaves more rows than it may have live keys. */
const issueStatement = (aid: string, { hash, createdAt, expiresAt }: NewLoginKey) => Prisma.sql`
  WITH excess AS (
    SELECT hash FROM login_key WHERE aid = ${aid} AND expires_at > ${createdAt}::timestamptz
    ORDER BY created_at DESC, hash OFFSET ${maxLiveKeys - 1}::int
  ),
  gone AS (
    DELETE FROM login_key
    WHERE aid = ${aid} AND (expires_at <= ${createdAt}::timestamptz OR hash IN (SELECT hash FROM excess))
    RETURNING expires_at > ${createdAt}::timestamptz AS live
  ),
  made AS (
    INSERT INTO login_key (hash, aid, created_at, expires_at)
    VALUES (${hash}, ${aid}, ${createdAt}::timestamptz, ${expiresAt}::timestamptz)
  )
  SELECT count(*) FILTER (WHERE live)::int AS dropped FROM gone`;
