import type {
  CreateConnectTokenRequestSchema,
  CreateConnectTokenResponseSchema,
} from '@acsp/contracts/identity/v1/identity';
import type { Agent } from '@acsp/rpc';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { agentAid } from '../agent/fields.js';
import { connectTokenKey, connectTokenSeconds, newConnectToken } from '../connect/connect-token.js';
import type { Context } from '../context.js';

/** A link by which the agent's owner opens the dashboard as this agent: good once, for ten minutes. */
export async function createConnectToken(
  { config, store, clock }: Context,
  _request: CreateConnectToken,
  agent: Agent,
) {
  const token = newConnectToken();
  await store.set(connectTokenKey(token), agent.aid, connectTokenSeconds);
  return {
    token,
    connectUrl: `${config.PUBLIC_URL}/api/acsp/connect/${token}`,
    expiresAt: timestampFromMs(clock.now().getTime() + connectTokenSeconds * 1000),
  } satisfies MessageInitShape<typeof CreateConnectTokenResponseSchema>;
}

type CreateConnectToken = z.infer<typeof createConnectTokenInput>;

export const createConnectTokenInput = z.object({ aid: agentAid }) satisfies z.ZodType<
  MessageInitShape<typeof CreateConnectTokenRequestSchema>
>;
