import type { ExpiredRows } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Context } from '../context.js';
import { events } from '../events.js';
import type { Radio as Row } from '../generated/prisma/client.js';
import type { Grant } from '../token/tokens.js';
import { mayOpen } from './may-open.js';
import type { Radio } from './radio.js';

/** Writes down that a token opens a stream, and answers which one of its streams this is. Throws INVALID_TOKEN where it may open none any more. */
export async function claimRadio(context: Context, grant: Grant, resumes: boolean): Promise<number> {
  const { database, clock } = context;
  const { token_id, aid } = grant;
  const now = clock.now();
  if (now <= grant.expires_at) {
    const data = { token_id, aid, number: 1, alive_at: now };
    const { count } = await database.prisma.radio.createMany({ data, skipDuplicates: true });
    if (count === 1) return 1;
  }
  return database.transaction(undefined, async (tx) => {
    const [row] = await tx.$queryRaw<Row[]>`
      SELECT token_id, aid, number, alive_at, ended_at FROM radio WHERE token_id = ${token_id}::uuid FOR NO KEY UPDATE`;
    if (row === undefined || !mayOpen(grant, row, { now, resumes })) throw new AppError('INVALID_TOKEN');
    const number = row.number + 1;
    await tx.radio.update({ where: { token_id }, data: { number, alive_at: now, ended_at: null } });
    // Whichever replica has the stream before ends it.
    const payload = { token_id, number };
    await events.emit(tx, { type: 'radio.opened', audience: [], actor: aid, payload });
    return number;
  });
}

const alive = `UPDATE radio SET alive_at = greatest(alive_at, $3), ended_at = CASE WHEN $4 THEN $3 END
  FROM unnest($1::uuid[], $2::int[]) AS open (token_id, number)
  WHERE radio.token_id = open.token_id AND radio.number = open.number`;

/** No token opens or takes up a stream so long after it was last seen open. */
export const expiredRadios: ExpiredRows = {
  table: 'radio',
  key: 'token_id',
  where: "alive_at < now() - interval '1 hour'",
};

/** Writes down that streams are open, or that they ended just now. */
export async function writeLiveness(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  radios: readonly Radio[],
  ended: boolean,
): Promise<void> {
  const values = [radios.map(({ token_id }) => token_id), radios.map(({ number }) => number), clock.now(), ended];
  await database.pool.query({ name: 'radio liveness', text: alive, values });
}
