import { connect } from 'node:net';
import { eventually } from '@acsp/testkit';
import { sendRaw, statusesIn } from './support/send-raw.js';
import { type TestGateway, testGateway } from './support/test-gateway.js';

// The corners of RFC 9110 and 9112, byte by byte: what is served, what is refused by which status, and whether the connection goes on.

let gateway: TestGateway;
let credential: string;

beforeAll(async () => {
  gateway = await testGateway();
  credential = `Authorization: Bearer ${gateway.identity.register().loginKey}`;
});
afterAll(() => gateway[Symbol.asyncDispose]());

const request = (line: string, headers: readonly string[] = [], body = '') =>
  [`${line}`, 'Host: a', credential, ...headers, '', body].join('\r\n');
const get = (...headers: string[]) => request('GET /api/acsp/tasks HTTP/1.1', headers);
const post = (headers: readonly string[], body: string) =>
  request('POST /api/acsp/tasks HTTP/1.1', ['Content-Type: application/json', ...headers], body);
const chunks = '2\r\n{}\r\n0\r\n\r\n';
/** Answered last, where the connection still serves. */
const last = () => request('GET /api/acsp/status HTTP/1.1', ['Connection: close']);
const allow = (text: string) => /^allow: (.*?)\r$/im.exec(text)?.[1];

describe.each<[what: string, text: () => string, statuses: number[], code?: string]>([
  // Methods
  ['CONNECT', () => 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n', [405], 'METHOD_NOT_ALLOWED'],
  ['CONNECT with a path', () => request('CONNECT /api/acsp/tasks HTTP/1.1'), [405], 'METHOD_NOT_ALLOWED'],
  ['TRACE', () => request('TRACE /api/acsp/tasks HTTP/1.1'), [405, 200], 'METHOD_NOT_ALLOWED'],
  ['TRACE of no path', () => request('TRACE /nothing HTTP/1.1'), [404, 200], 'NOT_FOUND'],
  ['a method of other servers', () => request('PROPFIND /api/acsp/tasks HTTP/1.1'), [405, 200], 'METHOD_NOT_ALLOWED'],
  ['a method in lower case', () => request('get /api/acsp/tasks HTTP/1.1'), [501], 'NOT_IMPLEMENTED'],
  ['a method in mixed case', () => request('Post /api/acsp/tasks HTTP/1.1'), [501], 'NOT_IMPLEMENTED'],
  ['a method that nobody knows', () => request('BREW /api/acsp/tasks HTTP/1.1'), [501], 'NOT_IMPLEMENTED'],
  ['a method that begins like another', () => request('GETS /api/acsp/tasks HTTP/1.1'), [501], 'NOT_IMPLEMENTED'],
  ['a method of RTSP', () => request('DESCRIBE /api/acsp/tasks HTTP/1.1'), [501], 'NOT_IMPLEMENTED'],
  ['a method with a character that none has', () => request('G@T /api/acsp/tasks HTTP/1.1'), [400], 'INVALID_FIELD'],
  ['OPTIONS *', () => request('OPTIONS * HTTP/1.1'), [204, 200]],
  ['OPTIONS of an authority alone', () => request('OPTIONS http://a HTTP/1.1'), [204, 200]],
  ['GET *', () => request('GET * HTTP/1.1'), [404, 200], 'NOT_FOUND'],
  ['HEAD', () => request('HEAD /api/acsp/tasks HTTP/1.1'), [200, 200]],
  ['HEAD of a path without GET', () => request('HEAD /api/acsp/register HTTP/1.1'), [405, 200]],
  ['HEAD of no path', () => request('HEAD /nothing HTTP/1.1'), [404, 200]],
  ['HEAD of a path that is no more', () => request('HEAD /api/acsp/match HTTP/1.1'), [410, 200]],

  // Versions
  ['HTTP/2.0', () => request('GET /api/acsp/tasks HTTP/2.0'), [505], 'HTTP_VERSION_NOT_SUPPORTED'],
  ['HTTP/0.9', () => request('GET /api/acsp/tasks HTTP/0.9'), [505], 'HTTP_VERSION_NOT_SUPPORTED'],
  ['HTTP/3.0', () => request('GET /api/acsp/tasks HTTP/3.0'), [505], 'HTTP_VERSION_NOT_SUPPORTED'],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [505], 'HTTP_VERSION_NOT_SUPPORTED'],
  ['HTTP/11.1', () => request('GET /api/acsp/tasks HTTP/11.1'), [400], 'INVALID_FIELD'],
  ['http/1.1', () => request('GET /api/acsp/tasks http/1.1'), [400], 'INVALID_FIELD'],
  ['a request without a version', () => 'GET /api/acsp/tasks\r\n\r\n', [505], 'HTTP_VERSION_NOT_SUPPORTED'],
  ['HTTP/1.0', () => request('GET /api/acsp/tasks HTTP/1.0'), [200]],

  // Framing
  ['chunks', () => post(['Transfer-Encoding: Chunked'], chunks), [200, 200]],
  ['gzip, chunked', () => post(['Transfer-Encoding: gzip, chunked'], chunks), [501], 'NOT_IMPLEMENTED'],
  [
    'gzip, chunked in two lines',
    () => post(['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'], chunks),
    [501],
    'NOT_IMPLEMENTED',
  ],
  ['gzip, chunked of a GET', () => `${get('Transfer-Encoding: gzip, chunked')}${chunks}`, [501], 'NOT_IMPLEMENTED'],
  ['gzip', () => post(['Transfer-Encoding: gzip'], chunks), [400], 'INVALID_FIELD'],
  ['chunked, gzip', () => post(['Transfer-Encoding: chunked, gzip'], chunks), [400], 'INVALID_FIELD'],
  ['chunked twice', () => post(['Transfer-Encoding: chunked, chunked'], chunks), [400], 'INVALID_FIELD'],
  ['identity', () => post(['Transfer-Encoding: identity'], '{}'), [400], 'INVALID_FIELD'],
  [
    'chunks beside a length',
    () => post(['Transfer-Encoding: chunked', 'Content-Length: 2'], chunks),
    [400],
    'INVALID_FIELD',
  ],
  [
    'chunks in HTTP/1.0',
    () => post(['Connection: keep-alive', 'Transfer-Encoding: chunked'], chunks).replace('HTTP/1.1', 'HTTP/1.0'),
    [400],
    'INVALID_FIELD',
  ],
  [
    'a chunk without a size',
    () => post(['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'),
    [400],
    'INVALID_FIELD',
  ],
  ['the same length twice', () => post(['Content-Length: 2', 'Content-Length: 2'], '{}'), [400], 'INVALID_FIELD'],
  ['two lengths', () => post(['Content-Length: 2', 'Content-Length: 3'], '{}'), [400], 'INVALID_FIELD'],
  ['a list of lengths', () => post(['Content-Length: 2, 2'], '{}'), [400], 'INVALID_FIELD'],
  ['a signed length', () => post(['Content-Length: +2'], '{}'), [400], 'INVALID_FIELD'],
  ['a length in hex', () => post(['Content-Length: 0x2'], '{}'), [400], 'INVALID_FIELD'],
  ['an empty length', () => post(['Content-Length:'], '{}'), [400], 'INVALID_FIELD'],
  ['a length without end', () => post([`Content-Length: ${'9'.repeat(30)}`], '{}'), [400], 'INVALID_FIELD'],
  ['a GET with a body', () => `${get('Content-Length: 2')}{}`, [200, 200]],
  ['a GET with a body in chunks', () => `${get('Transfer-Encoding: chunked')}${chunks}`, [200, 200]],

  // Headers
  ['a folded header', () => get('X-A: b', ' c'), [400], 'INVALID_FIELD'],
  ['a header folded at once', () => 'GET / HTTP/1.1\r\n X-A: b\r\nHost: a\r\n\r\n', [400], 'INVALID_FIELD'],
  ['white space before the colon', () => get('X-A : b'), [400], 'INVALID_FIELD'],
  ['lines that end with LF alone', () => get().replaceAll('\r', ''), [400], 'INVALID_FIELD'],
  ['a CR inside of a value', () => get('X-A: b\rc'), [400], 'INVALID_FIELD'],
  ['a NUL inside of a value', () => get('X-A: b\0c'), [400], 'INVALID_FIELD'],

  // Expectations
  ['a body that is waited for', () => post(['Expect: 100-continue', 'Content-Length: 2'], '{}'), [100, 200, 200]],
  [
    'an expectation of HTTP/1.0',
    () =>
      post(['Connection: keep-alive', 'Expect: 100-continue', 'Content-Length: 2'], '{}').replace(
        'HTTP/1.1',
        'HTTP/1.0',
      ),
    [200, 200],
  ],
])('%s', (_, text, statuses, code) => {
  test(`is answered ${statuses.join(', ')}`, async () => {
    const got = await sendRaw(gateway.url, text() + last());
    expect(statusesIn(got)).toEqual(statuses);
    expect(got).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
    if (code !== undefined) expect(got).toContain(`"code":"${code}"`);
    if (statuses[0] === 405) expect(allow(got)).toBeDefined();
  });
});

test.each(['OPTIONS * HTTP/1.1', 'OPTIONS http://a HTTP/1.1', 'CONNECT a:443 HTTP/1.1'])(
  '%s names the methods of the server',
  async (line) => {
    expect(allow(await sendRaw(gateway.url, request(line, ['Connection: close'])))).toBe('GET, HEAD, POST, OPTIONS');
  },
);

test('an upgrade that nobody offers is left alone, and the request served', async () => {
  const upgrade = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'];
  const text = post([...upgrade, 'Content-Length: 2'], '{}');
  const got = await sendRaw(gateway.url, text, (answer) => statusesIn(answer).length > 0);
  expect(statusesIn(got)).toEqual([200]);
  expect(gateway.service.seen.at(-1)).toMatchObject({ method: 'POST', body: Buffer.from('{}') });
  expect(gateway.service.seen.at(-1)?.headers).not.toHaveProperty('upgrade');
});

test('what comes behind a request that is not understood has no effect', async () => {
  const before = gateway.service.seen.length;
  const refused = post(['Transfer-Encoding: gzip, chunked'], chunks);
  expect(statusesIn(await sendRaw(gateway.url, refused + post(['Content-Length: 2'], '{}')))).toEqual([501]);
  expect(gateway.service.seen).toHaveLength(before);
});

test.each([
  ['of a type that is not taken', ['Content-Type: text/plain', 'Content-Length: 20'], 415],
  ['that is too large', ['Content-Type: application/json', 'Content-Length: 20000000'], 413],
])('a body %s is refused before it is sent', async (_, headers, status) => {
  const got = await sendRaw(
    gateway.url,
    request('POST /api/acsp/tasks HTTP/1.1', ['Expect: 100-continue', ...headers]),
  );
  expect(statusesIn(got)).toEqual([status]);
  expect(got).toMatch(/^connection: close\r$/im);
});

test.each(['hello\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'])(
  'a client that does not close after %j cannot keep the gateway from ending',
  async (text) => {
    const other = await testGateway();
    const { hostname, port } = new URL(other.url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    let got = '';
    socket.on('data', (piece) => {
      got += piece;
    });
    socket.write(request('GET /api/acsp/status HTTP/1.1') + text);
    await eventually(() => statusesIn(got).length === 2);
    // Its connection is open on this side still: what ends it is the gateway.
    await other[Symbol.asyncDispose]();
    expect(socket.writable).toBe(true);
    socket.destroy();
  },
);
