import type { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { byAgent, byAnyone, byService, type Fields, given, type Operations } from '@acsp/rpc';
import type { Context } from './context.js';
import { batchGetAgents, batchGetAgentsInput } from './operations/batch-get-agents.js';
import { createAgent, createAgentInput } from './operations/create-agent.js';
import { createConnectToken, createConnectTokenInput } from './operations/create-connect-token.js';
import { deleteAccount, deleteAccountInput } from './operations/delete-account.js';
import { getAgent, getAgentInput } from './operations/get-agent.js';
import { getHealth, getHealthInput } from './operations/get-health.js';
import { getSigningKey, getSigningKeyInput } from './operations/get-signing-key.js';
import { initAgent, initAgentInput } from './operations/init-agent.js';
import { quickstart, quickstartInput } from './operations/quickstart.js';
import { redeemConnectToken, redeemConnectTokenInput } from './operations/redeem-connect-token.js';
import { register, registerInput } from './operations/register.js';
import { revokeAgent, revokeAgentInput } from './operations/revoke-agent.js';
import { spendPrivacyBudget, spendPrivacyBudgetInput } from './operations/spend-privacy-budget.js';
import { updateProfile, updateProfileInput } from './operations/update-profile.js';
import { verifyAid, verifyAidInput } from './operations/verify-aid.js';
import { verifyLoginKey, verifyLoginKeyInput } from './operations/verify-login-key.js';

const without = (name: string) => (fields: Fields) => !given(name)(fields);

/** Every operation of identity, for both doors. Where forms share a path, `when` tells them apart (interface 4.1). */
export const operations = {
  register: byAgent('POST /api/acsp/register', registerInput, register, { status: 201 }),
  initAgent: byAgent('POST /api/acsp/agent-init', initAgentInput, initAgent, {
    when: given('aid', 'public_key', 'signature'),
  }),
  createAgent: byAnyone('POST /api/acsp/agent-init', createAgentInput, createAgent, { status: 201 }),
  quickstart: byAnyone('POST /api/acsp/quickstart', quickstartInput, quickstart, { status: 201 }),
  updateProfile: byAgent('POST /api/acsp/profile/update', updateProfileInput, updateProfile),
  // With an attestation_id the path is the attestations' own, and must not end an agent.
  revokeAgent: byAgent('POST /api/acsp/revoke', revokeAgentInput, revokeAgent, { when: without('attestation_id') }),
  deleteAccount: byAnyone('POST /api/acsp/account-delete', deleteAccountInput, deleteAccount),
  getHealth: byAnyone('GET /api/acsp/status', getHealthInput, getHealth, { when: without('aid') }),
  getAgent: byAnyone('GET /api/acsp/status', getAgentInput, getAgent),
  createConnectToken: byAgent('POST /api/acsp/connect', createConnectTokenInput, createConnectToken, { status: 201 }),
  redeemConnectToken: byAnyone('GET /api/acsp/connect/{token}', redeemConnectTokenInput, redeemConnectToken, {
    writes: true,
  }),
  verifyAid: byAnyone('GET /api/acsp/auth/verify', verifyAidInput, verifyAid),
  verifyLoginKey: byService(verifyLoginKeyInput, verifyLoginKey),
  getSigningKey: byService(getSigningKeyInput, getSigningKey),
  batchGetAgents: byService(batchGetAgentsInput, batchGetAgents),
  spendPrivacyBudget: byService(spendPrivacyBudgetInput, spendPrivacyBudget),
} satisfies Operations<typeof IdentityService, Context>;
