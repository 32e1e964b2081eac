import { createLimits } from './limits.js';
import { deprecated, routes } from './routes.js';

/** Transcribed from interface, section 4, and from the operations that the decisions add (marked +); forms of one path one below the other. */
const contract = `
  POST register                 signature
  POST agent-init               signature
  POST agent-init               none
  POST quickstart               none
  POST profile/update           login_key
  POST revoke                   signature
  POST revoke                   signature
  POST account-delete           unchecked_login_key
  GET  status                   none
  GET  status                   none
  POST connect                  login_key login_key_body
  GET  connect/{token}          none
  GET  auth/verify              none
  POST search                   login_key signature
  POST message/send             login_key signature
  POST message/send             login_key
  GET  inbox                    login_key aid
+ POST inbox/read               login_key
  POST message/broadcast        login_key login_key_body
  POST message/broadcast        login_key
  GET  message/history          login_key
+ POST connect/propose          login_key login_key_body
  GET  channels                 login_key none
  POST channels                 login_key login_key_body
  POST channels/join            login_key login_key_body
+ POST channels/invite          login_key login_key_body
  GET  channels/messages        login_key none
  POST channels/messages        login_key login_key_body
  POST group/create             signature
  POST group/join               signature
  POST group/verify             signature
  POST group/invite             signature
  GET  group/members            signature
  POST presence                 login_key login_key_body
  POST presence/heartbeat       login_key login_key_body
+ GET  presence                 login_key
  GET  presence-get             login_key
+ GET  presence/get             login_key
  POST presence/subscribe       login_key login_key_body
  POST presence/sweep           internal
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
  POST events/token             login_key login_key_body signature
  GET  events/radio             event_token
  GET  events/stream            signature
  POST webhook/register         signature
  GET  webhook/status           none
  POST webhook/worker           internal
  POST attest                   signature
  POST attest                   login_key
+ GET  attestations             none
  GET  mcp                      none
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
  .map(([method, path, ...by]) => `${method} /api/acsp/${path} ${by.join(' ')}`);

const formsOf = (http: string) => routes.filter((route) => route.http === http);
const limitsOf = (path: string) => formsOf(path.replace(' ', ' /api/acsp/')).map(({ limit }) => limit);

test('serves the operations of the interface, each by its credentials, and no other', () => {
  expect(routes.map(({ http, by }) => `${http} ${by.join(' ')}`).sort()).toEqual(contractRows.sort());
});

test('has one form on each path that takes what no other form takes', () => {
  for (const { http } of routes) {
    const forms = formsOf(http);
    expect(forms.map(({ when }) => when === undefined)).toEqual(forms.map((_, i) => i === forms.length - 1));
    expect(new Set(forms.map(({ maxBodyBytes }) => maxBodyBytes)).size).toBe(1);
  }
});

test('has the limits that the interface names', () => {
  const limits = createLimits(1);
  const perMinute = (path: string) =>
    limitsOf(path).map((name) => (name === undefined ? undefined : limits[name].limit));
  expect(perMinute('POST register')).toEqual([5]);
  expect(perMinute('POST quickstart')).toEqual([5]);
  expect(perMinute('POST revoke')).toEqual([60, 5]);
  expect(perMinute('POST agent-init')).toEqual([10, 10]);
  expect(perMinute('POST profile/update')).toEqual([10]);
  expect(perMinute('POST message/broadcast')).toEqual([60, 5]);
  expect(perMinute('POST attest')).toEqual([60, 10]);
  expect(perMinute('POST presence/subscribe')).toEqual([10]);
  for (const path of ['POST presence/heartbeat', 'GET presence-get', 'GET inbox', 'GET message/history']) {
    expect(perMinute(path)).toEqual([30]);
  }
});

test('counts all task operations together', () => {
  const names = routes.filter(({ service }) => service === 'tasks').map(({ limit }) => limit);
  expect(new Set(names)).toEqual(new Set(['tasks']));
});

test('leaves nothing without a limit but health and what operators call', () => {
  const unlimited = routes.filter(({ limit }) => limit === undefined).map(({ http, by }) => `${http} ${by}`);
  expect(unlimited).toEqual([
    'GET /api/acsp/status none',
    'POST /api/acsp/presence/sweep internal',
    'POST /api/acsp/webhook/worker internal',
  ]);
});

test('keeps no answer that holds a secret', () => {
  const secret = new Set(routes.filter((route) => route.secret).map(({ http }) => http));
  const named = ['register', 'agent-init', 'quickstart', 'connect', 'webhook/register', 'events/token'];
  expect(secret).toEqual(new Set(named.map((path) => `POST /api/acsp/${path}`)));
});

test('says where deprecated paths went', () => {
  const served = new Set(routes.map(({ http }) => http));
  for (const { http, movedTo } of deprecated) {
    expect(served.has(http)).toBe(false);
    expect(served.has(`POST ${movedTo}`)).toBe(true);
  }
});
