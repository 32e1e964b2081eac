import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { byAgent, byAnyone, unbuilt } from '@acsp/operation';
import { defineService } from '@acsp/service';
import { createContext, variables } from './context.js';
import { events } from './events.js';
import { PrismaClient } from './generated/prisma/client.js';
import { batchGetAgents, batchGetAgentsInput } from './operations/batch-get-agents.js';
import { createAgent, createAgentInput } from './operations/create-agent.js';
import { createConnectToken, createConnectTokenInput } from './operations/create-connect-token.js';
import { deleteAccount, deleteAccountInput } from './operations/delete-account.js';
import { getAgent, getAgentInput } from './operations/get-agent.js';
import { getHealth, getHealthInput } from './operations/get-health.js';
import { getSigningKey, getSigningKeyInput } from './operations/get-signing-key.js';
import { initAgent, initAgentInput } from './operations/init-agent.js';
import { provePath, provePathInput } from './operations/prove-path.js';
import { quickstart, quickstartCompact, quickstartCompactInput, quickstartInput } from './operations/quickstart.js';
import { redeemConnectToken, redeemConnectTokenInput } from './operations/redeem-connect-token.js';
import { register, registerCompact, registerCompactInput, registerInput } from './operations/register.js';
import { revokeAgent, revokeAgentInput } from './operations/revoke-agent.js';
import { spendPrivacyBudget, spendPrivacyBudgetInput } from './operations/spend-privacy-budget.js';
import { updateProfile, updateProfileInput } from './operations/update-profile.js';
import { verifyAid, verifyAidInput } from './operations/verify-aid.js';
import { verifyLoginKey, verifyLoginKeyInput } from './operations/verify-login-key.js';

export const service = defineService({
  name: 'identity',
  contract: IdentityService,
  events: events.payloads,
  config: variables,
  migrations: new URL('../prisma/migrations', import.meta.url),
  client: PrismaClient,
  context: createContext,
  operations: {
    register: byAgent(registerInput, register),
    registerCompact: byAgent(registerCompactInput, registerCompact),
    initAgent: byAgent(initAgentInput, initAgent),
    createAgent: byAnyone(createAgentInput, createAgent),
    quickstart: byAnyone(quickstartInput, quickstart),
    quickstartCompact: byAnyone(quickstartCompactInput, quickstartCompact),
    updateProfile: byAgent(updateProfileInput, updateProfile),
    revokeAgent: byAgent(revokeAgentInput, revokeAgent),
    deleteAccount: byAnyone(deleteAccountInput, deleteAccount),
    getHealth: byAnyone(getHealthInput, getHealth),
    getAgent: byAnyone(getAgentInput, getAgent),
    createConnectToken: byAgent(createConnectTokenInput, createConnectToken),
    redeemConnectToken: byAnyone(redeemConnectTokenInput, redeemConnectToken),
    verifyAid: byAnyone(verifyAidInput, verifyAid),
    verifyLoginKey: byAnyone(verifyLoginKeyInput, verifyLoginKey),
    getSigningKey: byAnyone(getSigningKeyInput, getSigningKey),
    batchGetAgents: byAnyone(batchGetAgentsInput, batchGetAgents),
    spendPrivacyBudget: byAnyone(spendPrivacyBudgetInput, spendPrivacyBudget),
    provePath: byAnyone(provePathInput, provePath),
    attestAgent: unbuilt,
    rateAgent: unbuilt,
    revokeAttestation: unbuilt,
    listAttestations: unbuilt,
  },
});
