import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { unbuilt } from '@acsp/operation';
import { defineService } from '@acsp/service';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { PrismaClient } from './generated/prisma/client.js';
import { batchGetAgents } from './operations/batch-get-agents.js';
import { createAgent } from './operations/create-agent.js';
import { createConnectToken } from './operations/create-connect-token.js';
import { deleteAccount, purgeDeleted } from './operations/delete-account.js';
import { getAgent } from './operations/get-agent.js';
import { getHealth } from './operations/get-health.js';
import { getSigningKey } from './operations/get-signing-key.js';
import { initAgent } from './operations/init-agent.js';
import { provePath } from './operations/prove-path.js';
import { quickstart, quickstartCompact } from './operations/quickstart.js';
import { redeemConnectToken } from './operations/redeem-connect-token.js';
import { register, registerCompact } from './operations/register.js';
import { revokeAgent } from './operations/revoke-agent.js';
import { spendPrivacyBudget } from './operations/spend-privacy-budget.js';
import { updateProfile } from './operations/update-profile.js';
import { verifyAid } from './operations/verify-aid.js';
import { verifyLoginKey } from './operations/verify-login-key.js';

export const service = defineService({
  name: 'identity',
  contract: IdentityService,
  events: events.payloads,
  config: variables,
  migrations: new URL('../prisma/migrations', import.meta.url),
  client: PrismaClient,
  context: createContext,
  operations: {
    register,
    registerCompact,
    initAgent,
    createAgent,
    quickstart,
    quickstartCompact,
    updateProfile,
    revokeAgent,
    deleteAccount,
    getHealth,
    getAgent,
    createConnectToken,
    redeemConnectToken,
    verifyAid,
    verifyLoginKey,
    getSigningKey,
    batchGetAgents,
    spendPrivacyBudget,
    provePath,
    attestAgent: unbuilt,
    rateAgent: unbuilt,
    revokeAttestation: unbuilt,
    listAttestations: unbuilt,
  },
  background: (context) => ({
    jobs: [{ name: 'deleted agents', everyMs: 600_000, run: async () => void (await purgeDeleted(context)) }],
  }),
});
