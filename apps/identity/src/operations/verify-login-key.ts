import { VerifyLoginKeyRequestSchema, type VerifyLoginKeyResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { hashLoginKey, isLoginKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { byAnyone, fieldsOf, type PublicOf } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';

/** Whose login key it is. Every request with a key that the gateway does not know yet waits for this: one look-up by primary key. */
export const verifyLoginKey = byAnyone(
  fieldsOf(VerifyLoginKeyRequestSchema)({
    login_key: z.string('INVALID_LOGIN_KEY').refine(isLoginKey, 'INVALID_LOGIN_KEY'),
  }),
  async ({ database, clock }: Context, { login_key }) => {
    const [holder] = await database.query<Holder>(holderQuery(hashLoginKey(login_key), clock.now()));
    if (holder === undefined) throw new AppError('INVALID_LOGIN_KEY');
    return holder;
  },
);

type Holder = PublicOf<typeof VerifyLoginKeyResponseSchema>;

const holderQuery = (hash: Buffer, now: Date) => Prisma.sql`
  SELECT agent.aid, agent_name, expires_at, agent.created_at AS registered_at
  FROM login_key JOIN agent ON agent.aid = login_key.aid
  WHERE hash = ${hash} AND expires_at > ${now}::timestamptz AND status = 'active'`;
