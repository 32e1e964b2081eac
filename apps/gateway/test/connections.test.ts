import { connect } from 'node:net';
import { eventually } from '@acsp/testkit';
import { sendRaw, statusesIn } from './support/send-raw.js';
import { answerJson } from './support/stand-in.js';
import { type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;
let loginKey: string;

beforeAll(async () => {
  gateway = await testGateway();
  ({ loginKey } = gateway.identity.register());
  await gateway.get('tasks', { headers: { authorization: `Bearer ${loginKey}` } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const post = (path: string, body: string, key = loginKey) =>
  [
    `POST /api/acsp/${path} HTTP/1.1`,
    'Host: acsp.example',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
const lastUrls = (count: number) => gateway.service.seen.slice(-count).map(({ url }) => url);

describe('pipelined requests', () => {
  test('take effect one after the other, in the order in which they were sent', async () => {
    const statuses = [200, 201, 409, 403, 404, 422];
    const running = { now: 0, most: 0 };
    const paths = ['tasks', 'tasks/claim', 'tasks/update', 'tasks/submit', 'tasks/message', 'tasks/delegate'];
    for (const [index] of paths.entries()) {
      gateway.service.next((response, seen) => {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        response.once('close', () => {
          running.now -= 1;
        });
        setImmediate(() => answerJson(statuses[index] ?? 500, {})(response, seen));
      });
    }
    const text = await sendRaw(
      gateway.url,
      paths.map((path) => post(path, '{}')).join(''),
      (got) => statusesIn(got).length === 6,
    );
    expect(statusesIn(text)).toEqual(statuses);
    expect(running.most).toBe(1);
    expect(lastUrls(6)).toEqual(paths.map((path) => `/api/acsp/${path}`));
  });

  test('keep their order when one of them is refused', async () => {
    const before = gateway.service.seen.length;
    const refused = post('tasks', '{}').replace(loginKey, 'nk_wrong');
    const text = await sendRaw(
      gateway.url,
      post('tasks', '{}') + refused + post('tasks/claim', '{}'),
      (got) => statusesIn(got).length === 3,
    );
    expect(statusesIn(text)).toEqual([200, 403, 200]);
    expect(gateway.service.seen).toHaveLength(before + 2);
  });

  test('a POST with stray bytes behind it is answered 201, and then 400', async () => {
    const before = gateway.service.seen.length;
    gateway.service.next(answerJson(201, { task: {} }));
    expect(statusesIn(await sendRaw(gateway.url, `${post('tasks', '{}')}xx\r\n\r\n`))).toEqual([201, 400]);
    expect(gateway.service.seen).toHaveLength(before + 1);
  });

  test('are refused behind a hundred that wait, and then their connection ends', async () => {
    let finish = () => {};
    gateway.service.next((response, seen) => {
      finish = () => answerJson(200, {})(response, seen);
    });
    const before = gateway.service.seen.length;
    const text = sendRaw(gateway.url, post('tasks', '{}').repeat(150));
    await eventually(() => gateway.service.seen.length > before);
    finish();
    expect(statusesIn(await text)).toEqual([...Array<number>(101).fill(200), 429]);
    expect(gateway.service.seen).toHaveLength(before + 101);
  });

  test('that wait when their connection is lost have no effect', async () => {
    // A gateway of its own: requests of other tests that were broken off may still be on their way to the log.
    await using quiet = await testGateway();
    quiet.service.next(() => {});
    const { hostname, port } = new URL(quiet.url);
    const socket = connect(Number(port), hostname);
    socket.write(post('tasks', '{}', quiet.identity.register().loginKey).repeat(3));
    await eventually(() => quiet.service.seen.length > 0);
    socket.destroy();
    await eventually(() => quiet.log.filter((line) => line.includes('request broken off')).length === 3);
    expect(quiet.service.seen).toHaveLength(1);
  });
});

describe('a target in absolute form', () => {
  const close = 'Connection: close\r\n\r\n';

  test.each(['http://acsp.example:8080/api/acsp/status?x=1', 'HTTPS://acsp.example:8080/api/acsp/status?x=1'])(
    'is served like any other: %s',
    async (target) => {
      expect(statusesIn(await sendRaw(gateway.url, `GET ${target} HTTP/1.1\r\nHost: other\r\n${close}`))).toEqual([
        200,
      ]);
      expect(gateway.service.seen.at(-1)).toMatchObject({
        url: '/api/acsp/status?x=1',
        headers: { host: 'acsp.example:8080', 'x-forwarded-host': 'acsp.example:8080' },
      });
    },
  );

  test.each([
    ['without a path', 'http://acsp.example?x', 404],
    ['that is none of HTTP', 'ftp://acsp.example/api/acsp/status', 404],
    ['whose authority is cut', 'http://[::1/api/acsp/status', 400],
    ['whose authority is cut, without a path', 'http://[x', 400],
    ['without an authority', 'http:///api/acsp/status', 400],
    ['with a port that there is not', 'http://a:99999/api/acsp/status', 400],
    ['with user and password', 'http://user:pw@a/api/acsp/status', 400],
  ])('%s is refused with a problem', async (_, target, status) => {
    const text = await sendRaw(gateway.url, `GET ${target} HTTP/1.1\r\nHost: a\r\n${close}`);
    expect(statusesIn(text)).toEqual([status]);
    expect(text).toMatch(/^x-request-id: /im);
    expect(text).toContain('application/problem+json');
  });
});

test.each([
  ['HTTP/1.1', '', 400],
  ['HTTP/1.1', 'Host: a\r\nHost: b\r\n', 400],
  ['HTTP/1.1', 'Host: a\r\nhOST: a\r\n', 400],
  ['HTTP/1.1', 'Host: a\r\n', 200],
  ['HTTP/1.0', '', 200],
  ['HTTP/1.0', 'Host: a\r\nHost: b\r\n', 400],
])('%s with %j is answered %d', async (version, hosts, status) => {
  const text = await sendRaw(gateway.url, `GET /api/acsp/status ${version}\r\n${hosts}Connection: close\r\n\r\n`);
  expect(statusesIn(text)).toEqual([status]);
});

test.each([
  ['::', 'http://[::1]:'],
  ['::1', 'http://[::1]:'],
  ['0.0.0.0', 'http://127.0.0.1:'],
])('HOST=%s is served under a URL that can be opened', async (HOST, url) => {
  await using other = await testGateway({ env: { HOST } });
  expect(other.url.startsWith(url)).toBe(true);
  expect((await fetch(`${other.url}/api/acsp/status`)).status).toBe(200);
});

const answered = async (host: string) =>
  statusesIn(await sendRaw(gateway.url, `GET /api/acsp/status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));

test.each(['a', 'a:80', '127.0.0.1:8080', '[::1]:8080', 'a_b.example', 'a:', 'a:000080'])(
  'Host: %s is served',
  async (host) => {
    expect(await answered(host)).toEqual([200]);
  },
);

test.each(['', 'a b', 'http://x/', 'user@x', 'x:abc', 'x:99999', '[::1', '<script>', 'x/y', 'x?y', '\xff'])(
  'Host: %s is no host and answered 400',
  async (host) => {
    expect(await answered(host)).toEqual([400]);
  },
);
