import type { Transaction } from '@acsp/database';
import { events } from '../events.js';
import type { PrismaClient } from '../generated/prisma/client.js';
import type { NewLoginKey } from './new-login-key.js';

/** Live keys of one agent. */
const maxLiveKeys = 10;

/** Gives a locked agent another login key, in place of the oldest where it has as many as it may. Clears away its expired keys. */
export async function issueLoginKey(tx: Transaction<PrismaClient>, aid: string, key: NewLoginKey): Promise<void> {
  const { hash, createdAt, expiresAt } = key;
  await tx.loginKey.deleteMany({ where: { aid, expires_at: { lte: createdAt } } });
  const excess = await tx.loginKey.findMany({
    where: { aid },
    orderBy: [{ created_at: 'desc' }, { hash: 'asc' }],
    skip: maxLiveKeys - 1,
    select: { hash: true },
  });
  await tx.loginKey.deleteMany({ where: { hash: { in: excess.map((row) => row.hash) } } });
  await tx.loginKey.create({ data: { hash: new Uint8Array(hash), aid, created_at: createdAt, expires_at: expiresAt } });
  if (excess.length > 0)
    await events.emit(tx, { type: 'login_key.dropped', audience: [], actor: aid, payload: { aid } });
}
