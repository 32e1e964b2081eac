import { RedeemConnectTokenRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { z } from 'zod';
import { lockAgent } from '../agent/find-agent.js';
import type { Context } from '../context.js';
import { issueLoginKey } from '../login-key/issue-login-key.js';
import { connectKeyDays, newLoginKey } from '../login-key/new-login-key.js';
import { hashConnectToken } from './create-connect-token.js';

/** Exchanges a connect token for a login key of a day. One of several at once gets it; a redemption that fails leaves the token as it was. */
export const redeemConnectToken = byAnyone(
  fieldsOf(RedeemConnectTokenRequestSchema)({
    token: z.string('CONNECT_TOKEN_INVALID'),
  }),
  ({ database, clock }: Context, { token }, _caller, call) =>
    database.transaction(call, async (tx) => {
      const key = newLoginKey(clock.now(), connectKeyDays);
      const hash = hashConnectToken(token);
      const found = await tx.connectToken.findUnique({ where: { hash } });
      if (found === null) throw new AppError('CONNECT_TOKEN_INVALID');
      // The agent is locked first, as every other change of its keys does it, so that none deadlocks with another.
      const { aid, agent_name } = await lockAgent(tx, found.aid);
      const { count } = await tx.connectToken.deleteMany({ where: { hash, expires_at: { gt: key.createdAt } } });
      if (count === 0) throw new AppError('CONNECT_TOKEN_INVALID');
      await issueLoginKey(tx, aid, key);
      return { aid, agent_name, login_key: key.key, login_key_expires: key.expiresAt };
    }),
);
