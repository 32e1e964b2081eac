import { once } from 'node:events';
import { type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { eventually } from '@acsp/testkit';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

const unavailable = { status: 503, code: 'SERVICE_UNAVAILABLE', retry_after_seconds: 1 };
let gateway: TestGateway;

beforeAll(async () => {
  const away = 'http://127.0.0.1:9';
  const env = { UPSTREAM_TIMEOUT_MS: '300', SEARCH_URL: '', TASKS_URL: away, EVENTS_URL: away };
  gateway = await testGateway({ env });
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('answers 503 at once for a service that is not deployed', async () => {
  const reply = await gateway.post('search', {});
  expect(reply.json).toMatchObject(unavailable);
  expect(reply.headers['retry-after']).toBe('1');
});

test('answers 503 when the service refuses the connection', async () => {
  const agent = gateway.identity.register();
  expect((await gateway.get('tasks', bearer(agent.loginKey))).json).toMatchObject(unavailable);
  expect((await gateway.post('tasks', { a: 1 }, bearer(agent.loginKey))).json).toMatchObject(unavailable);
});

test('answers 503 when the service closes the connection instead of answering', async () => {
  gateway.service.next((response) => response.destroy());
  expect((await gateway.get('channels')).json).toMatchObject(unavailable);
});

test('answers 503 when the service is silent', async () => {
  gateway.service.next(() => {});
  expect((await gateway.get('channels')).json).toMatchObject(unavailable);
});

test('answers 503 when the service does not speak HTTP', async () => {
  const babbler = createServer((socket) => socket.end('hello\r\n\r\n'));
  await new Promise<void>((resolve) => babbler.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(babbler.address() as AddressInfo).port}`;
  await using strange = await testGateway({ env: { MESSAGING_URL: url } });
  expect((await strange.get('channels')).json).toMatchObject(unavailable);
  babbler.close();
});

test.each<[string, string, OutgoingHttpHeaders]>([
  ['by header', '', { 'last-event-id': 'evt_00000000000000000001' }],
  ['by query', '&last_event_id=evt_00000000000000000001', {}],
])(
  'a stream that is taken up again %s is an empty one while its service is away: an EventSource ends for good with anything but 200',
  async (_, query, headers) => {
    const reply = await gateway.get(`events/radio?token=t${query}`, { headers });
    expect(reply).toMatchObject({ status: 200, text: 'retry: 2000\n\n' });
    expect(reply.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    expect(reply.headers['x-request-id']).toBeDefined();
  },
);

test('a stream that begins is answered 503 while its service is away, and one whose service is not deployed', async () => {
  expect((await gateway.get('events/radio?token=t')).json).toMatchObject(unavailable);
  await using without = await testGateway({ env: { EVENTS_URL: '' } });
  const resumed = { 'last-event-id': 'evt_00000000000000000001' };
  expect((await without.get('events/radio?token=t', { headers: resumed })).json).toMatchObject(unavailable);
});

test('breaks the answer off where the service breaks off', async () => {
  gateway.service.next((response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half');
    setImmediate(() => response.destroy());
  });
  await expect(gateway.get('channels')).rejects.toThrow();
});

test('lets a request of the service end when the caller goes away', async () => {
  const gone = new Promise<void>((resolve) => {
    gateway.service.next((response) => {
      response.once('close', resolve);
      response.writeHead(200).write('and so on');
    });
  });
  const caller = request(`${gateway.url}/api/acsp/channels`, (answer) =>
    answer.once('data', () => caller.destroy()),
  ).end();
  await gone;
});

test.each<[string, OutgoingHttpHeaders, boolean]>([
  ['under an Idempotency-Key runs to its end', { 'idempotency-key': 'gone' }, true],
  ['without one ends', {}, false],
])('a POST %s when the client goes', async (_, extra, runsOn) => {
  const agent = gateway.identity.register();
  const seen = new Promise<ServerResponse>((resolve) => {
    gateway.service.next(resolve);
  });
  const headers = { ...bearer(agent.loginKey).headers, ...extra, 'content-type': 'application/json' };
  const caller = request(`${gateway.url}/api/acsp/channels`, { method: 'POST', headers }).end('{}');
  caller.once('error', () => {});
  const response = await seen;
  const closed = once(response, 'close');
  caller.destroy();
  if (runsOn) {
    await eventually(() => gateway.log.join('').includes('request broken off'));
    expect(response.destroyed).toBe(false);
    response.end('{}');
  }
  await closed;
  expect(response.writableFinished).toBe(runsOn);
});

test('answers 503 while the identity service is away, and does not count it against the caller', async () => {
  await using alone = await testGateway({ env: { IDENTITY_GRPC: '127.0.0.1:9', RATE_LIMIT_SCALE: '0.04' } });
  const agent = alone.identity.register();
  for (let i = 0; i < 3; i += 1) {
    expect((await alone.get('tasks', bearer(agent.loginKey))).json).toMatchObject(unavailable);
  }
});

test('never tells what went wrong inside', async () => {
  const agent = gateway.identity.register();
  const reply = await gateway.get('tasks', bearer(agent.loginKey));
  expect(reply.text).not.toMatch(/ECONN|127\.0\.0\.1|at /);
});
