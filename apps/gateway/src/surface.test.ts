import { Credential } from '@acsp/contracts/edge/v1/edge';
import { createLimits, type LimitName, limitNames } from './limits.js';
import { movedPaths, routes } from './surface.js';

/**
 * Transcribed from interface, section 4, and from the operations that the decisions add (marked +); forms of one path one below the other, with the
 * field or fields that choose each.
 */
const contract = `
  POST register                 signature                         ? ed25519_pubkey
  POST register                 signature
  POST agent-init               signature                         ? aid public_key signature
  POST agent-init               none
  POST quickstart               none                              ? name
  POST quickstart               none
  POST profile/update           login_key
  POST revoke                   signature                         ? attestation_id
  POST revoke                   signature
  POST account-delete           login_key_unchecked
  GET  status                   none                              ? aid
  GET  status                   none
  POST connect                  login_key login_key_in_body
  GET  connect/{token}          none
  GET  auth/verify              none
  POST search                   login_key signature
  POST message/send             login_key signature               ? recipient_aid to
  POST message/send             login_key
  GET  inbox                    login_key aid
+ POST inbox/read               login_key
  POST message/broadcast        login_key login_key_in_body       ? to_aids
  POST message/broadcast        login_key
  GET  message/history          login_key
+ POST connect/propose          login_key login_key_in_body
  GET  channels                 login_key none
  POST channels                 login_key login_key_in_body
  POST channels/join            login_key login_key_in_body
+ POST channels/invite          login_key login_key_in_body
  GET  channels/messages        login_key none
  POST channels/messages        login_key login_key_in_body
  POST group/create             signature
  POST group/join               signature
  POST group/verify             signature
  POST group/invite             signature
  GET  group/members            signature
  POST presence                 login_key login_key_in_body
  POST presence/heartbeat       login_key login_key_in_body
+ GET  presence                 login_key                         ? aids
+ GET  presence                 login_key
+ GET  presence-get             login_key                         ? aids
  GET  presence-get             login_key
+ GET  presence/get             login_key                         ? aids
+ GET  presence/get             login_key
  POST presence/subscribe       login_key login_key_in_body
  POST presence/sweep           internal_token
  POST thread/create            signature
  POST thread/message           signature
  POST thread/status            signature
  GET  thread/{thread_id}       signature
  GET  threads                  signature
  POST beaver                   signature
+ POST beaver-triple            signature
  GET  workspace                login_key
  POST workspace/create         signature
  GET  workspace/list           aid
  GET  workspace/{id}           signature
  POST workspace/document/add   signature
  GET  workspace/document/list  aid
  GET  workspace/document/{id}  signature aid
  POST workspace/key/grant      signature
  GET  workspace/activity       signature
  POST events/token             login_key login_key_in_body signature
  GET  events/radio             event_token
  GET  events/stream            signature
  POST webhook/register         signature
  GET  webhook/status           none
  POST webhook/worker           internal_token
  POST attest                   login_key                         ? target_aid
  POST attest                   signature                         ? subject_aid
+ GET  attestations             none
  GET  mcp                      none
+ POST mcp                      none                              ? jsonrpc
  POST mcp                      none
+ POST a2a                      login_key
+ GET  a2a/agent-card           none
  POST tasks                    login_key
  GET  tasks                    login_key
  GET  tasks/{id}               login_key
  POST tasks/claim              login_key
+ POST tasks/claims/resolve     login_key
  POST tasks/update             login_key
  POST tasks/submit             login_key
  POST tasks/delegate           login_key
  POST tasks/message            login_key
`;

const contractRows = contract
  .trim()
  .split('\n')
  .map((line) => line.replace('+', ' ').trim().split(/\s+/))
  .map(([method, path, ...rest]) => `${method} /api/acsp/${path} ${rest.join(' ')}`);

const credentials = (by: readonly Credential[]) => by.map((credential) => Credential[credential].toLowerCase());
const rows = routes.map(({ method, path, by, given }) =>
  [method, path, ...credentials(by), ...(given.length === 0 ? [] : ['?', ...given])].join(' '),
);
const formsOf = (http: string) => routes.filter(({ method, path }) => `${method} ${path}` === http);

test('serves the operations of the interface, each by its credentials, and no other', () => {
  expect(rows.sort()).toEqual(contractRows.sort());
});

test('names limits that exist', () => {
  const named = routes.flatMap(({ limit }) => limit ?? []);
  expect(limitNames).toEqual(expect.arrayContaining(named));
});

test('has an order between the forms of a path, and one limit of size', () => {
  for (const { method, path } of routes) {
    const forms = formsOf(`${method} ${path}`);
    const open = forms.findIndex(({ given }) => given.length === 0);
    if (path !== '/api/acsp/attest') expect(open).toBe(forms.length - 1);
    expect(new Set(forms.map(({ maxBodyBytes }) => maxBodyBytes)).size).toBe(1);
  }
});

test('has the limits that the interface names', () => {
  const limits = createLimits(1);
  const perMinute = (path: string) =>
    formsOf(path.replace(' ', ' /api/acsp/')).map(({ limit }) => limits[limit as LimitName]?.limit);
  expect(perMinute('POST register')).toEqual([5, 5]);
  expect(perMinute('POST quickstart')).toEqual([5, 5]);
  expect(perMinute('POST revoke')).toEqual([60, 5]);
  expect(perMinute('POST agent-init')).toEqual([10, 10]);
  expect(perMinute('POST profile/update')).toEqual([10]);
  expect(perMinute('POST message/broadcast')).toEqual([60, 5]);
  expect(perMinute('POST attest')).toEqual([10, 60]);
  expect(perMinute('POST presence/subscribe')).toEqual([10]);
  expect(perMinute('GET presence-get')).toEqual([30, 30]);
  for (const path of ['POST presence/heartbeat', 'GET inbox', 'GET message/history']) {
    expect(perMinute(path)).toEqual([30]);
  }
});

test('counts all task operations together', () => {
  const names = routes.filter(({ service }) => service === 'tasks').map(({ limit }) => limit);
  expect(new Set(names)).toEqual(new Set(['tasks']));
});

test('leaves nothing without a limit but health and what operators call', () => {
  const unlimited = routes.filter(({ limit }) => limit === undefined);
  expect(unlimited.map(({ method, path, by }) => `${method} ${path} ${credentials(by)}`).sort()).toEqual([
    'GET /api/acsp/status none',
    'POST /api/acsp/presence/sweep internal_token',
    'POST /api/acsp/webhook/worker internal_token',
  ]);
});

test('keeps no answer that holds a secret', () => {
  const secret = new Set(routes.filter((route) => route.secret).map(({ method, path }) => `${method} ${path}`));
  const named = ['register', 'agent-init', 'quickstart', 'connect', 'webhook/register', 'events/token'];
  expect(secret).toEqual(new Set(named.map((path) => `POST /api/acsp/${path}`)));
});

test('takes two megabytes where documents are stored, and 64 KiB elsewhere', () => {
  const large = routes.filter(({ maxBodyBytes }) => maxBodyBytes !== 64 * 1024);
  expect(large.map(({ path, maxBodyBytes }) => [path, maxBodyBytes])).toEqual([
    ['/api/acsp/workspace/document/add', 2 << 20],
  ]);
});

test('asks of signatures what the decisions say', () => {
  const rule = (http: string, form = 0) => formsOf(http.replace(' ', ' /api/acsp/'))[form]?.signature;
  const registration = { signer: 'registration', driftCode: 'INVALID_TIMESTAMP', missingCode: 'MISSING_FIELDS' };
  expect(rule('POST register', 1)).toMatchObject(registration);
  expect(rule('POST agent-init')).toMatchObject({ signer: 'holder', missingCode: 'MISSING_FIELDS' });
  expect(rule('POST revoke', 1)).toMatchObject({ signer: 'holder', missingCode: 'AUTH_REQUIRED' });
  expect(rule('POST revoke')).toMatchObject({ aid: ['attester_aid'], timeOptional: true });
  expect(rule('GET events/stream')).toMatchObject({ field: 'sig', timeField: 'ts', driftSeconds: 300 });
  for (const path of ['POST group/create', 'POST group/join', 'POST group/invite', 'GET group/members']) {
    expect(rule(path)).toMatchObject({ driftSeconds: 60, driftCode: 'TIMESTAMP_OUT_OF_RANGE' });
  }
  for (const { signature } of routes.filter(({ method }) => method === 'POST'))
    expect(signature.field).toBe('signature');
});

test('says where deprecated paths went', () => {
  const served = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  expect(movedPaths).toHaveLength(3);
  for (const { method, path, to } of movedPaths) {
    expect(served.has(`${method} ${path}`)).toBe(false);
    expect(served.has(`POST ${to}`)).toBe(true);
  }
});
