import { type Fields, given } from '@acsp/rpc';
import { agent, gapFill, group, holder, initiation, registration, untimed } from './credentials/signature-rule.js';
import type { LimitName } from './limits.js';
import type { Credential, Deprecated, Route, Service } from './route.js';

/** Method and path, credentials, limit (none on what operators call), and where the operation differs from the rest. */
type Row = readonly [operation: string, by: readonly Credential[], limit?: LimitName, more?: Partial<Route>];

const none = ['none'] as const;
const bearer = ['login_key'] as const;
const anyKey = ['login_key', 'login_key_body'] as const;
const signed = ['signature'] as const;
const keyOrSigned = ['login_key', 'signature'] as const;
const keyOrNone = ['login_key', 'none'] as const;
const secret = true;

const isRating = (fields: Fields) => given('subject_aid')(fields) && !given('target_aid')(fields);
const ofHolder = { rule: initiation, when: given('aid', 'public_key', 'signature'), secret };
const directSender = { aid: ['sender_aid', 'from'], when: given('recipient_aid', 'to') };

/** Every operation (interface, section 4), by the service that serves it. Paths are below `/api/acsp/`. */
const table: Readonly<Record<Service, readonly Row[]>> = {
  identity: [
    ['POST register', signed, 'register', { rule: registration, secret }],
    ['POST agent-init', signed, 'agent-init', ofHolder],
    ['POST agent-init', none, 'agent-init', { secret }],
    ['POST quickstart', none, 'quickstart', { secret }],
    ['POST profile/update', bearer, 'profile-update'],
    ['POST revoke', signed, 'agent', { rule: untimed, aid: ['attester_aid'], when: given('attestation_id') }],
    ['POST revoke', signed, 'revoke', { rule: holder }],
    ['POST account-delete', ['unchecked_login_key'], 'account-delete'],
    ['GET status', none, 'public', { when: given('aid') }],
    ['GET status', none],
    ['POST connect', anyKey, 'agent', { secret }],
    ['GET connect/{token}', none, 'public', { page: true }],
    ['GET auth/verify', none, 'public'],
    ['POST attest', signed, 'agent', { rule: untimed, aid: ['attester_aid'], when: isRating }],
    ['POST attest', bearer, 'attest'],
    ['GET attestations', none, 'public'],
  ],
  search: [
    ['POST search', keyOrSigned, 'agent'],
    ['GET mcp', none, 'public'],
    ['POST mcp', none, 'public'],
    ['POST a2a', bearer, 'agent'],
    ['GET a2a/agent-card', none, 'public'],
    ['POST beaver', signed, 'agent', { rule: untimed, aid: ['aid_a'] }],
    ['POST beaver-triple', signed, 'agent', { rule: untimed, aid: ['aid_a'] }],
  ],
  messaging: [
    ['POST message/send', keyOrSigned, 'message-send', directSender],
    ['POST message/send', bearer, 'message-send'],
    ['GET inbox', ['login_key', 'aid'], 'inbox'],
    ['POST inbox/read', bearer, 'agent'],
    ['POST message/broadcast', anyKey, 'agent', { when: given('to_aids') }],
    ['POST message/broadcast', bearer, 'broadcast'],
    ['GET message/history', bearer, 'history'],
    ['POST connect/propose', anyKey, 'agent'],
    ['GET channels', keyOrNone, 'public'],
    ['POST channels', anyKey, 'agent'],
    ['POST channels/join', anyKey, 'agent'],
    ['POST channels/invite', anyKey, 'agent'],
    ['GET channels/messages', keyOrNone, 'public'],
    ['POST channels/messages', anyKey, 'agent'],
    ['POST thread/create', signed, 'agent', { aid: ['initiator_aid'] }],
    ['POST thread/message', signed, 'agent'],
    ['POST thread/status', signed, 'agent'],
    ['GET thread/{thread_id}', signed, 'agent'],
    ['GET threads', signed, 'agent'],
  ],
  tasks: [
    ['POST tasks', bearer, 'tasks'],
    ['GET tasks', bearer, 'tasks'],
    ['GET tasks/{id}', bearer, 'tasks'],
    ['POST tasks/claim', bearer, 'tasks'],
    ['POST tasks/claims/resolve', bearer, 'tasks'],
    ['POST tasks/update', bearer, 'tasks'],
    ['POST tasks/submit', bearer, 'tasks'],
    ['POST tasks/delegate', bearer, 'tasks'],
    ['POST tasks/message', bearer, 'tasks'],
  ],
  workspace: [
    ['GET workspace', bearer, 'agent'],
    ['POST workspace/create', signed, 'agent'],
    ['GET workspace/list', ['aid'], 'public'],
    ['GET workspace/{id}', signed, 'agent'],
    ['POST workspace/document/add', signed, 'agent', { maxBodyBytes: 2 << 20 }],
    ['GET workspace/document/list', ['aid'], 'public'],
    ['GET workspace/document/{id}', ['signature', 'aid'], 'public'],
    ['POST workspace/key/grant', signed, 'agent'],
    ['GET workspace/activity', signed, 'agent'],
    ['POST group/create', signed, 'agent', { rule: group }],
    ['POST group/join', signed, 'agent', { rule: group }],
    ['POST group/verify', signed, 'agent', { rule: group }],
    ['POST group/invite', signed, 'agent', { rule: group }],
    ['GET group/members', signed, 'agent', { rule: group }],
  ],
  events: [
    ['POST events/token', ['login_key', 'login_key_body', 'signature'], 'agent', { secret }],
    ['GET events/radio', ['event_token'], 'public'],
    ['GET events/stream', signed, 'agent', { rule: gapFill }],
    ['POST presence', anyKey, 'agent'],
    ['POST presence/heartbeat', anyKey, 'presence-heartbeat'],
    ['GET presence', bearer, 'presence-get'],
    ['GET presence-get', bearer, 'presence-get'],
    ['GET presence/get', bearer, 'presence-get'],
    ['POST presence/subscribe', anyKey, 'presence-subscribe'],
    ['POST presence/sweep', ['internal']],
  ],
  webhook: [
    ['POST webhook/register', signed, 'agent', { secret }],
    ['GET webhook/status', none, 'public'],
    ['POST webhook/worker', ['internal']],
  ],
};

const standard = { rule: agent, aid: ['aid'], maxBodyBytes: 64 * 1024 };

export const routes: readonly Route[] = Object.entries(table).flatMap(([service, rows]) =>
  rows.map(([operation, by, limit, more]) => ({
    ...standard,
    http: operation.replace(' ', ' /api/acsp/'),
    service: service as Service,
    by,
    limit,
    ...more,
  })),
);

/** Paths that are no more (interface, section 7.1). */
export const deprecated: readonly Deprecated[] = [
  { http: 'POST /api/acsp/propose', movedTo: '/api/acsp/connect/propose' },
  { http: 'GET /api/acsp/match', movedTo: '/api/acsp/search' },
  { http: 'POST /api/acsp/match', movedTo: '/api/acsp/search' },
];
