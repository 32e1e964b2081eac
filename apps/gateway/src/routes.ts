import type { Fields } from '@acsp/rpc';
import { agent, gapFill, group, holder, registration, untimed } from './credentials/signature-rule.js';
import type { LimitName } from './limits.js';
import type { Credential, Deprecated, Route, Service } from './route.js';

type More = Partial<Omit<Route, 'http' | 'service' | 'by' | 'limit'>>;

const on = (operation: string, service: Service, by: readonly Credential[], limit?: LimitName, more?: More): Route => ({
  http: operation.replace(' ', ' /api/acsp/'),
  service,
  by,
  limit,
  rule: agent,
  aid: ['aid'],
  ...more,
});

const moved = (operation: string, path: string): Deprecated => ({
  http: operation.replace(' ', ' /api/acsp/'),
  movedTo: `/api/acsp/${path}`,
});

/** Whether any of these fields is there. */
const given =
  (...names: string[]) =>
  (fields: Fields) =>
    names.some((name) => fields[name] !== undefined && fields[name] !== null);

const none = ['none'] as const;
const bearer = ['login_key'] as const;
const anyKey = ['login_key', 'login_key_body'] as const;
const signed = ['signature'] as const;
const secret = true;

/** Every operation (interface, section 4): method and path, service, credentials, limit, and what differs from the rule. */
export const routes: readonly (Route | Deprecated)[] = [
  // Identity and account
  on('POST register', 'identity', signed, 'register', { rule: registration, secret }),
  on('POST agent-init', 'identity', signed, 'agent-init', { rule: { ...holder, missing: 'MISSING_FIELDS' }, secret, when: given('aid', 'public_key', 'signature') }),
  on('POST agent-init', 'identity', none, 'agent-init', { secret }),
  on('POST quickstart', 'identity', none, 'quickstart', { secret }),
  on('POST profile/update', 'identity', bearer, 'profile-update'),
  on('POST revoke', 'identity', signed, 'agent', { rule: untimed, aid: ['attester_aid'], when: given('attestation_id') }),
  on('POST revoke', 'identity', signed, 'revoke', { rule: holder }),
  on('POST account-delete', 'identity', ['unchecked_login_key'], 'account-delete'),
  on('GET status', 'identity', none, 'public', { when: given('aid') }),
  on('GET status', 'identity', none),
  on('POST connect', 'identity', anyKey, 'agent', { secret }),
  on('GET connect/{token}', 'identity', none, 'public'),
  on('GET auth/verify', 'identity', none, 'public'),

  // Search
  on('POST search', 'search', ['login_key', 'signature'], 'agent'),

  // Messages
  on('POST message/send', 'messaging', ['login_key', 'signature'], 'message-send', { aid: ['sender_aid', 'from'], when: given('recipient_aid', 'to') }),
  on('POST message/send', 'messaging', bearer, 'message-send'),
  on('GET inbox', 'messaging', ['login_key', 'aid'], 'inbox'),
  on('POST inbox/read', 'messaging', bearer, 'agent'),
  on('POST message/broadcast', 'messaging', anyKey, 'agent', { when: given('to_aids') }),
  on('POST message/broadcast', 'messaging', bearer, 'broadcast'),
  on('GET message/history', 'messaging', bearer, 'history'),
  on('POST connect/propose', 'messaging', anyKey, 'agent'),
  moved('POST propose', 'connect/propose'),
  moved('GET match', 'search'),
  moved('POST match', 'search'),

  // Channels
  on('GET channels', 'messaging', ['login_key', 'none'], 'public'),
  on('POST channels', 'messaging', anyKey, 'agent'),
  on('POST channels/join', 'messaging', anyKey, 'agent'),
  on('POST channels/invite', 'messaging', anyKey, 'agent'),
  on('GET channels/messages', 'messaging', ['login_key', 'none'], 'public'),
  on('POST channels/messages', 'messaging', anyKey, 'agent'),

  // Anonymous groups
  on('POST group/create', 'workspace', signed, 'agent', { rule: group }),
  on('POST group/join', 'workspace', signed, 'agent', { rule: group }),
  on('POST group/verify', 'workspace', signed, 'agent', { rule: group }),
  on('POST group/invite', 'workspace', signed, 'agent', { rule: group }),
  on('GET group/members', 'workspace', signed, 'agent', { rule: group }),

  // Presence
  on('POST presence', 'events', anyKey, 'agent'),
  on('POST presence/heartbeat', 'events', anyKey, 'presence-heartbeat'),
  on('GET presence', 'events', bearer, 'presence-get'),
  on('GET presence-get', 'events', bearer, 'presence-get'),
  on('GET presence/get', 'events', bearer, 'presence-get'),
  on('POST presence/subscribe', 'events', anyKey, 'presence-subscribe'),
  on('POST presence/sweep', 'events', ['internal']),

  // Negotiation threads
  on('POST thread/create', 'messaging', signed, 'agent', { aid: ['initiator_aid'] }),
  on('POST thread/message', 'messaging', signed, 'agent'),
  on('POST thread/status', 'messaging', signed, 'agent'),
  on('GET thread/{thread_id}', 'messaging', signed, 'agent'),
  on('GET threads', 'messaging', signed, 'agent'),

  // Two-party computation
  on('POST beaver', 'search', signed, 'agent', { rule: untimed, aid: ['aid_a'] }),
  on('POST beaver-triple', 'search', signed, 'agent', { rule: untimed, aid: ['aid_a'] }),

  // Workspaces
  on('GET workspace', 'workspace', bearer, 'agent'),
  on('POST workspace/create', 'workspace', signed, 'agent'),
  on('GET workspace/list', 'workspace', ['aid'], 'public'),
  on('GET workspace/{id}', 'workspace', signed, 'agent'),
  on('POST workspace/document/add', 'workspace', signed, 'agent', { maxBodyBytes: 2 << 20 }),
  on('GET workspace/document/list', 'workspace', ['aid'], 'public'),
  on('GET workspace/document/{id}', 'workspace', ['signature', 'aid'], 'public'),
  on('POST workspace/key/grant', 'workspace', signed, 'agent'),
  on('GET workspace/activity', 'workspace', signed, 'agent'),

  // Events
  on('POST events/token', 'events', ['login_key', 'login_key_body', 'signature'], 'agent', { secret }),
  on('GET events/radio', 'events', ['event_token'], 'public'),
  on('GET events/stream', 'events', signed, 'agent', { rule: gapFill }),

  // Webhooks
  on('POST webhook/register', 'webhook', signed, 'agent', { secret }),
  on('GET webhook/status', 'webhook', none, 'public'),
  on('POST webhook/worker', 'webhook', ['internal']),

  // Attestations
  on('POST attest', 'identity', signed, 'agent', { rule: untimed, aid: ['attester_aid'], when: isRating }),
  on('POST attest', 'identity', bearer, 'attest'),
  on('GET attestations', 'identity', none, 'public'),

  // Tool bridge
  on('GET mcp', 'search', none, 'public'),
  on('POST mcp', 'search', none, 'public'),
  on('POST a2a', 'search', bearer, 'agent'),
  on('GET a2a/agent-card', 'search', none, 'public'),

  // Tasks
  on('POST tasks', 'tasks', bearer, 'tasks'),
  on('GET tasks', 'tasks', bearer, 'tasks'),
  on('GET tasks/{id}', 'tasks', bearer, 'tasks'),
  on('POST tasks/claim', 'tasks', bearer, 'tasks'),
  on('POST tasks/claims/resolve', 'tasks', bearer, 'tasks'),
  on('POST tasks/update', 'tasks', bearer, 'tasks'),
  on('POST tasks/submit', 'tasks', bearer, 'tasks'),
  on('POST tasks/delegate', 'tasks', bearer, 'tasks'),
  on('POST tasks/message', 'tasks', bearer, 'tasks'),
];

function isRating(fields: Fields): boolean {
  return given('subject_aid')(fields) && !given('target_aid')(fields);
}
