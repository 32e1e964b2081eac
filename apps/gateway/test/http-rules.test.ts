import { connect } from 'node:net';
import { ask } from './support/ask.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('answers a problem with its code and request id', async () => {
  const reply = await gateway.get('nothing/here', { headers: { 'x-request-id': 'a.b-C_9' } });
  expect(reply.status).toBe(404);
  expect(reply.headers).toMatchObject({ 'content-type': 'application/problem+json', 'x-request-id': 'a.b-C_9' });
  expect(reply.json).toEqual({
    type: 'urn:acsp:error:not-found',
    title: 'No such path',
    status: 404,
    detail: 'No such path',
    code: 'NOT_FOUND',
    request_id: 'a.b-C_9',
  });
});

test.each(['', 'has space', 'x'.repeat(129), 'a<b>'])('makes a request id of its own in place of %j', async (id) => {
  const reply = await gateway.get('status', { headers: { 'x-request-id': id } });
  expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('answers 405 with the methods that a path has', async () => {
  const reply = await ask(gateway.url, 'DELETE', '/api/acsp/tasks');
  expect(reply.json).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
  expect(reply.headers.allow).toBe('POST, GET, HEAD, OPTIONS');
});

test.each([
  ['POST propose', '/api/acsp/connect/propose'],
  ['POST match', '/api/acsp/search'],
  ['GET match', '/api/acsp/search'],
])('answers 410 to %s, with the path that took its place', async (operation, path) => {
  const [method = '', name] = operation.split(' ');
  const reply = await ask(gateway.url, method, `/api/acsp/${name}`);
  expect(reply.json).toMatchObject({ status: 410, code: 'DEPRECATED', migration: { path } });
});

describe('a body', () => {
  const agent = () => gateway.identity.register().loginKey;
  const send = (contentType: string, body = '{}') =>
    gateway.post('tasks', body, { headers: { authorization: `Bearer ${agent()}`, 'content-type': contentType } });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/merge-patch+json',
  ])('may be %s', async (contentType) => {
    expect((await send(contentType)).status).toBe(200);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'text/json'])(
    'may not be %s',
    async (contentType) => {
      expect((await send(contentType)).json).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    },
  );

  test('may not be compressed, nor of no type', async () => {
    const headers = { authorization: `Bearer ${agent()}`, 'content-encoding': 'gzip' };
    expect((await gateway.post('tasks', '{}', { headers })).status).toBe(415);
    const reply = await fetch(`${gateway.url}/api/acsp/tasks`, { method: 'POST', body: new Uint8Array([123, 125]) });
    expect(reply.status).toBe(415);
  });

  test('may have 64 KiB, and no byte more', async () => {
    const full = `{"a":"${'x'.repeat(65_536 - 8)}"}`;
    expect((await gateway.post('tasks', full, bearer(agent()))).status).toBe(200);
    expect((await gateway.post('tasks', `${full} `, bearer(agent()))).json).toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
    });
    const chunks = [full, ' '];
    expect((await ask(gateway.url, 'POST', '/api/acsp/tasks', { ...bearer(agent()), chunks })).status).toBe(413);
    const few = Array<string>(2).fill('x'.repeat(40_000));
    expect((await ask(gateway.url, 'POST', '/api/acsp/register', { chunks: few })).status).toBe(413);
  });

  test('may have 2 MiB where documents are stored', async () => {
    const body = `{"a":"${'x'.repeat(2 ** 21 - 8)}"}`;
    expect((await gateway.post('workspace/document/add', body)).json).toMatchObject({ code: 'AUTH_REQUIRED' });
    expect((await gateway.post('workspace/document/add', `${body} `)).status).toBe(413);
  });

  test('that is far too large is refused in a way that the sender sees', async () => {
    expect((await gateway.post('tasks', 'x'.repeat(5_000_000), bearer(agent()))).status).toBe(413);
    const chunks = Array<string>(100).fill('x'.repeat(70_000));
    expect((await ask(gateway.url, 'POST', '/api/acsp/tasks', { ...bearer(agent()), chunks })).status).toBe(413);
  });
});

describe('the order of checks', () => {
  test('finds a body that is not JSON before a missing or wrong credential', async () => {
    for (const question of [{}, bearer('nk_wrong')]) {
      for (const body of ['{', '[]', '"x"', '{"a":1}}']) {
        expect((await gateway.post('tasks', body, question)).json).toMatchObject({ status: 400, code: 'INVALID_JSON' });
      }
      expect([401, 403]).toContain((await gateway.post('tasks', '{}', question)).status);
    }
    for (const path of ['thread/create', 'channels', 'register', 'agent-init']) {
      expect((await gateway.post(path, '{"a"')).json).toMatchObject({ status: 400, code: 'INVALID_JSON' });
    }
  });

  test('leaves the body of a known caller to the service', async () => {
    const agent = gateway.identity.register();
    expect((await gateway.post('tasks', '{', bearer(agent.loginKey))).status).toBe(200);
    expect(gateway.service.seen.at(-1)?.body.toString()).toBe('{');
  });

  test('says 401 where there is neither body nor credential', async () => {
    expect((await ask(gateway.url, 'POST', '/api/acsp/tasks')).json).toMatchObject({ code: 'AUTH_REQUIRED' });
  });
});

describe('browsers', () => {
  const origin = 'https://page.example';

  test('may call from any origin and see our headers', async () => {
    const { headers } = await gateway.get('status', { headers: { origin } });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toBe(
      'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, Idempotency-Replayed, Events-Truncated',
    );
    expect((await gateway.get('nothing', { headers: { origin } })).headers['access-control-allow-origin']).toBe('*');
  });

  test('get their preflight answered without a credential', async () => {
    const asked = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,idempotency-key',
    };
    const reply = await ask(gateway.url, 'OPTIONS', '/api/acsp/tasks', { headers: { origin, ...asked } });
    expect(reply).toMatchObject({ status: 204, text: '' });
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-headers': 'authorization,idempotency-key',
    });
  });
});

test('answers OPTIONS with the methods of the path', async () => {
  const reply = await ask(gateway.url, 'OPTIONS', '/api/acsp/tasks');
  expect(reply).toMatchObject({ status: 204, headers: { allow: 'POST, GET, HEAD, OPTIONS' } });
  expect((await ask(gateway.url, 'OPTIONS', '/nothing')).status).toBe(404);
});

test.each([
  ['what is not HTTP', 'hello\r\n\r\n', 400, 'INVALID_FIELD'],
  [
    'a head that is too large',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'PAYLOAD_TOO_LARGE',
  ],
  ['a request without a host', 'GET /api/acsp/status HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'INVALID_FIELD'],
  ['a target that is too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'PAYLOAD_TOO_LARGE'],
])('answers %s with a problem', async (_, text, status, code) => {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  const pieces: Buffer[] = [];
  socket.on('data', (piece) => pieces.push(piece)).end(text);
  await new Promise((resolve) => socket.once('close', resolve));
  const [head = '', body = ''] = Buffer.concat(pieces).toString().split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/X-Request-Id: [0-9a-f-]{36}/);
  expect(JSON.parse(body)).toMatchObject({ status, code });
});

test('an expectation that nobody knows changes nothing', async () => {
  const { loginKey } = gateway.identity.register();
  const headers = { authorization: `Bearer ${loginKey}`, expect: 'miracles' };
  expect((await gateway.get('tasks', { headers })).status).toBe(200);
});

test('no header hides behind many others', async () => {
  const { loginKey } = gateway.identity.register();
  const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, i) => [`acsp-${i}`, 'x']));
  const headers = { ...many, authorization: `Bearer ${loginKey}`, 'content-type': 'application/json' };
  expect((await gateway.post('tasks', '{"a":1}', { headers })).status).toBe(200);
  expect(gateway.service.seen.at(-1)?.body.toString()).toBe('{"a":1}');
});

test.each([
  ['GET', 'text/html,application/xhtml+xml,*/*;q=0.8'],
  ['GET', '*/*'],
  ['GET', ''],
  ['HEAD', 'application/json'],
])('a connect link is not redeemed by a %s with Accept %s', async (method, accept) => {
  const reply = await ask(gateway.url, method, '/api/acsp/connect/abc', { headers: { accept } });
  expect(reply.status).toBe(200);
  expect(reply.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  expect(reply.headers['content-security-policy']).toMatch(/script-src 'sha256-/);
  expect(reply.headers['x-request-id']).toBeDefined();
});

test('a connect link is redeemed where JSON is asked for', async () => {
  const reply = await gateway.get('connect/abc', { headers: { accept: 'application/json' } });
  expect(reply.json).toMatchObject({ url: '/api/acsp/connect/abc' });
});
