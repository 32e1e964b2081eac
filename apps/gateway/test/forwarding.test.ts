import { randomBytes } from 'node:crypto';
import { createPrincipals, principalHeader } from '@acsp/operation';
import { ask } from './support/ask.js';
import { answerJson } from './support/stand-in.js';
import { bearer, type TestGateway, testGateway } from './support/test-gateway.js';

let gateway: TestGateway;
const last = () => {
  const seen = gateway.service.seen.at(-1);
  if (seen === undefined) throw new Error('the service saw nothing');
  return seen;
};

beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('sends a body on byte for byte that nothing looks at', async () => {
  const agent = gateway.identity.register();
  const body = Buffer.from('{ "title":\t"Zürich \\u00e9",\n"n":1e-07 , "title":"again"}');
  await gateway.post('tasks', '', { ...bearer(agent.loginKey), body });
  expect(last().body).toEqual(body);
  expect(last().headers['content-length']).toBe(String(body.length));
});

test('sends a body on byte for byte that it had to look at', async () => {
  const agent = gateway.identity.register();
  const body = `{ "login_key" : "${agent.loginKey}",  "name":"caf\u00e9" }`;
  await gateway.post('channels', body);
  expect(last().body.toString()).toBe(body);
});

test('sends a body on that came in chunks', async () => {
  const agent = gateway.identity.register();
  const chunks = ['{"title":', '"in pieces"', '}'];
  await ask(gateway.url, 'POST', '/api/acsp/tasks', { ...bearer(agent.loginKey), chunks });
  expect(last().body.toString()).toBe('{"title":"in pieces"}');
  expect(last().headers).toMatchObject({ 'content-length': '21' });
  expect(last().headers).not.toHaveProperty('transfer-encoding');
});

test('sends the target on to the letter', async () => {
  await gateway.get('status?aid=a%2Fb&x=1|2&&y={"a":[]}#f');
  expect(last().url).toBe('/api/acsp/status?aid=a%2Fb&x=1|2&&y={"a":[]}#f');
});

test('keeps the headers that Connection names, as it keeps Connection itself', async () => {
  await gateway.get('status', {
    headers: { connection: 'keep-alive, X-Hop,  last-event-id', 'x-hop': '1', 'last-event-id': '2', 'x-end': '3' },
  });
  expect(last().headers).toMatchObject({ 'x-end': '3', 'x-request-id': expect.any(String) });
  for (const name of ['x-hop', 'last-event-id']) expect(last().headers).not.toHaveProperty(name);
});

test('tells the service who calls, by a signed principal', async () => {
  const agent = gateway.identity.register();
  await gateway.get('tasks', { headers: { authorization: `Bearer ${agent.loginKey}`, 'x-request-id': 'mine-1' } });
  const principal = gateway.principals.verify(last().headers[principalHeader] as string);
  expect(principal).toEqual({
    aid: agent.aid,
    name: 'holder',
    via: 'login_key',
    requestId: 'mine-1',
    registeredAt: agent.registeredAt,
    rpc: 'acsp.tasks.v1.TasksService/ListTasks',
  });
});

test('signs with the first of several secrets', async () => {
  const [fresh, old] = ['f'.repeat(32), 'o'.repeat(32)];
  await using two = await testGateway({ env: { PRINCIPAL_SECRET: `${fresh},${old}` } });
  await two.get('status');
  const token = two.service.seen.at(-1)?.headers[principalHeader] as string;
  expect(createPrincipals([fresh]).verify(token)).toMatchObject({ via: 'anonymous' });
  expect(() => createPrincipals([old]).verify(token)).toThrow();
});

test('names the form that the fields choose', async () => {
  const rpcOf = async (path: string) => {
    await gateway.get(path);
    return gateway.principals.verify(last().headers[principalHeader] as string).rpc;
  };
  expect(await rpcOf('status')).not.toBe(await rpcOf(`status?aid=${'f'.repeat(50)}`));
});

test('drops identity, origin and credentials that come in as headers', async () => {
  const agent = gateway.identity.register();
  const theirs = {
    [principalHeader]: 'forged',
    'acsp-anything': '1',
    forwarded: 'for=6.6.6.6',
    'x-forwarded-for': '6.6.6.6',
    'x-forwarded-proto': 'https',
    'x-forwarded-port': '1',
    host: 'acsp.example',
    connection: 'keep-alive, x-hop',
    'accept-language': 'de',
  };
  await gateway.get('tasks', { headers: { ...theirs, authorization: `Bearer ${agent.loginKey}` } });
  const { headers } = last();
  expect(headers[principalHeader]).not.toBe('forged');
  expect(headers).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'acsp.example',
    'accept-language': 'de',
  });
  for (const name of ['acsp-anything', 'forwarded', 'x-forwarded-port', 'authorization']) {
    expect(headers).not.toHaveProperty(name);
  }
});

test('believes the forwarded header that the operator trusts', async () => {
  await using trusting = await testGateway({ env: { TRUST_PROXY: 'x-forwarded-for' } });
  await trusting.get('status', {
    headers: { 'x-forwarded-for': '6.6.6.6, 203.0.113.9', 'x-forwarded-proto': 'https' },
  });
  expect(trusting.service.seen.at(-1)?.headers).toMatchObject({
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
  });
});

test('sends no body on where none is meant', async () => {
  await gateway.get('status', { body: '{"a":1}' });
  expect(last().body.length).toBe(0);
  expect(last().headers).not.toHaveProperty('content-length');
});

test('asks HEAD of the service and answers its head', async () => {
  gateway.service.next((response) => response.writeHead(200, { 'content-length': 17, 'content-type': 'text/x' }).end());
  const reply = await ask(gateway.url, 'HEAD', '/api/acsp/status');
  expect(last().method).toBe('HEAD');
  expect(reply).toMatchObject({ status: 200, text: '', headers: { 'content-length': '17', 'content-type': 'text/x' } });
});

test('passes status, headers and body of an answer on, but not those of its connection', async () => {
  gateway.service.next((response) =>
    response.writeHead(418, { 'x-tea': 'green', 'x-request-id': 'theirs', 'keep-alive': 'timeout=1' }).end('short'),
  );
  const reply = await gateway.get('status', { headers: { 'x-request-id': 'mine' } });
  expect(reply).toMatchObject({ status: 418, text: 'short', headers: { 'x-tea': 'green', 'x-request-id': 'mine' } });
  expect(reply.headers['keep-alive']).toBeUndefined();
});

test.each(['text/event-stream', 'text/event-stream; charset=utf-8', 'Text/Event-Stream;charset=utf-8'])(
  'passes a stream of %s on while it goes on, its head before the first event',
  async (type) => {
    let write = (_: string) => {};
    gateway.service.next((response) => {
      response.writeHead(200, { 'content-type': type }).flushHeaders();
      write = (event) => response.write(event);
    });
    const stream = await fetch(`${gateway.url}/api/acsp/events/radio?token=x`);
    const reader = stream.body?.getReader();
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      write(event);
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(event);
    }
    await reader?.cancel();
  },
);

test('streams do not wait for the connections of other answers, and outlive their time-out', async () => {
  await using patient = await testGateway({ env: { UPSTREAM_TIMEOUT_MS: '100' } });
  let finish = () => {};
  const open = new Promise<void>((resolve) => {
    patient.service.next((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      finish = () => response.end('data: late\n\n');
      resolve();
    });
  });
  const stream = await fetch(`${patient.url}/api/acsp/events/radio?token=x`);
  await open;
  // A silent service is given up here, which takes as long as the time-out.
  patient.service.next(() => {});
  expect((await patient.get('status')).status).toBe(503);
  finish();
  expect(await stream.text()).toBe('data: late\n\n');
});

test('holds a large answer back while nobody reads it, and loses nothing of it', async () => {
  const large = randomBytes(32 << 20);
  let taken = false;
  gateway.service.next((response) => {
    response.end(large, () => {
      taken = true;
    });
  });
  const answer = await fetch(`${gateway.url}/api/acsp/status`);
  // Longer than it takes to read all of it.
  for (let i = 0; i < 200; i += 1) await gateway.get('status');
  expect(taken).toBe(false);
  expect(Buffer.from(await answer.arrayBuffer()).equals(large)).toBe(true);
});

test('sends on the connection of the request before', async () => {
  const ports = new Set<number | undefined>();
  for (let i = 0; i < 3; i += 1) {
    gateway.service.next((response, seen) => {
      ports.add(response.socket?.remotePort);
      answerJson(200, {})(response, seen);
    });
    await gateway.get('status');
  }
  expect(ports.size).toBe(1);
});
