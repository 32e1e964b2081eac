import type { VerifyLoginKeyRequestSchema, VerifyLoginKeyResponseSchema } from '@acsp/contracts/identity/v1/identity';
import { hashLoginKey, isLoginKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';

/** Whose login key it is. Every request with a key that the gateway does not know yet waits for this: one look-up by primary key. */
export async function verifyLoginKey({ database, clock }: Context, { loginKey }: VerifyLoginKey) {
  const [holder] = await database.query<Holder>(holderQuery(hashLoginKey(loginKey), clock.now()));
  if (holder === undefined) throw new AppError('INVALID_LOGIN_KEY');
  return {
    aid: holder.aid,
    agentName: holder.agent_name,
    expiresAt: timestampFromDate(holder.expires_at),
  } satisfies MessageInitShape<typeof VerifyLoginKeyResponseSchema>;
}

interface Holder {
  readonly aid: string;
  readonly agent_name: string;
  readonly expires_at: Date;
}

const holderQuery = (hash: Buffer, now: Date) => Prisma.sql`
  SELECT agent.aid, agent_name, expires_at FROM login_key JOIN agent ON agent.aid = login_key.aid
  WHERE hash = ${hash} AND expires_at > ${now}::timestamptz AND status = 'active'`;

type VerifyLoginKey = z.infer<typeof verifyLoginKeyInput>;

export const verifyLoginKeyInput = z
  .object({ login_key: z.string('INVALID_LOGIN_KEY').refine(isLoginKey, 'INVALID_LOGIN_KEY') })
  .transform(({ login_key }) => ({ loginKey: login_key })) satisfies z.ZodType<
  MessageInitShape<typeof VerifyLoginKeyRequestSchema>
>;
