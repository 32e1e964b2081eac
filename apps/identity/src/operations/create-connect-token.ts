import { createHash, randomBytes } from 'node:crypto';
import { CreateConnectTokenRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAgent, fieldsOf } from '@acsp/operation';
import { agentAid } from '../agent/fields.js';
import { lockCaller } from '../agent/find-agent.js';
import type { Context } from '../context.js';

const lifetimeMs = 600_000;

/** A link by which the agent's owner opens the dashboard as this agent: good once, for ten minutes. */
export const createConnectToken = byAgent(
  fieldsOf(CreateConnectTokenRequestSchema)({ aid: agentAid }),
  async ({ config, database, clock }: Context, _input, caller, call) => {
    const token = randomBytes(32).toString('base64url');
    const now = clock.now();
    const expires_at = new Date(now.getTime() + lifetimeMs);
    await database.transaction(call, async (tx) => {
      const { aid } = await lockCaller(tx, caller);
      await tx.connectToken.deleteMany({ where: { aid, expires_at: { lte: now } } });
      await tx.connectToken.create({ data: { hash: hashConnectToken(token), aid, expires_at } });
    });
    return { token, connect_url: `${config.PUBLIC_URL}/api/acsp/connect/${token}`, expires_at };
  },
);

/** The table has this in place of the token, so that nobody who reads it can redeem one. */
export const hashConnectToken = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(token).digest());
