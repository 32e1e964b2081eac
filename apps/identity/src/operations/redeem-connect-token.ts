import type {
  RedeemConnectTokenRequestSchema,
  RedeemConnectTokenResponseSchema,
} from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { lockAgent } from '../agent/find-agent.js';
import { connectTokenKey } from '../connect/connect-token.js';
import type { Context } from '../context.js';
import { issueLoginKey } from '../login-key/issue-login-key.js';
import { connectKeyDays, newLoginKey } from '../login-key/new-login-key.js';

/** Exchanges a connect token for a login key of a day. The token is used up, even where its agent is no longer active. */
export async function redeemConnectToken({ database, store, clock }: Context, { token }: RedeemConnectToken) {
  const aid = await store.take(connectTokenKey(token));
  if (aid === undefined) throw new AppError('CONNECT_TOKEN_INVALID');
  const key = newLoginKey(clock.now(), connectKeyDays);
  const agent = await database.transaction(async (tx) => {
    const known = await lockAgent(tx, aid);
    await issueLoginKey(tx, aid, key);
    return known;
  });
  return {
    aid,
    agentName: agent.agent_name,
    loginKey: key.key,
    loginKeyExpires: timestampFromDate(key.expiresAt),
  } satisfies MessageInitShape<typeof RedeemConnectTokenResponseSchema>;
}

type RedeemConnectToken = z.infer<typeof redeemConnectTokenInput>;

export const redeemConnectTokenInput = z.object({ token: z.string('CONNECT_TOKEN_INVALID') }) satisfies z.ZodType<
  MessageInitShape<typeof RedeemConnectTokenRequestSchema>
>;
