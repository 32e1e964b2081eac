import { request as httpRequest } from 'node:http';
import { rpcName } from '@acsp/operation';
import { renderMetrics } from '@acsp/telemetry';
import { agent, anonymous, startService, type TestService } from '@acsp/testkit';
import { TrialService } from './generated/proto/acsp/trial/v1/trial_pb.js';
import { type Context, trial } from './trial/service.js';

let service: TestService<Context>;
const ann = agent('Ann');

beforeAll(async () => {
  service = await startService(trial);
  for (const text of ['pear', 'apple']) await service.call(ann, 'POST /notes', { text });
});
afterAll(() => service[Symbol.asyncDispose]());

const call: TestService<Context>['call'] = (...request) => service.call(...request);

/** A request with a principal for an rpc of the test's choice. */
const withRpc = (rpc: string | undefined, init: RequestInit = {}) =>
  fetch(`${service.url}/api/acsp/anything`, {
    ...init,
    headers: { 'acsp-principal': service.principals.sign({ ...ann, rpc }) },
  });

test('an object is answered with the status of the contract, every field of it, and headers that nothing may keep it by', async () => {
  const answer = await call(anonymous, 'GET /notes/7');
  expect(answer).toMatchObject({ status: 200, body: { id: '7', colour: null } });
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(await call(ann, 'POST /notes', { text: 'plum' })).toMatchObject({ status: 201, body: { text: 'plum' } });
});

test('the field that is the whole answer is sent bare, and the fields of a request choose the form', async () => {
  expect((await call(anonymous, 'GET /notes?q=ppl')).body).toEqual(['apple']);
  expect((await call(anonymous, 'GET /notes?query=pea')).body).toEqual(['pear']);
  expect((await call(anonymous, 'GET /notes')).body).toEqual({ texts: expect.arrayContaining(['apple', 'pear']) });
});

test('a body is handed on and answered byte for byte, with the status and headers of the operation', async () => {
  const body = '{"id" : 1,  "text": "ünï\\u0063"}';
  const answer = await call(anonymous, 'POST /rpc?tenant=t1', body);
  expect(answer).toMatchObject({ status: 200, body: { id: 1, result: Buffer.from(body).toString('hex') } });
  expect(answer.headers.get('x-tenant')).toBe('t1');
  const notification = await call(anonymous, 'POST /rpc', '{}');
  expect(notification).toMatchObject({ status: 202, body: '' });
  expect(notification.headers.get('content-type')).toBe('application/json');
});

test('parameters come from the path, of the main path or of an alias, decoded', async () => {
  for (const path of ['/notes/a%20b', '/note-by-id/a%20b']) {
    expect((await call(anonymous, `GET ${path}?colour=red&id=other`)).body).toEqual({ id: 'a b', colour: 'red' });
  }
});

test('HEAD is answered like GET, without a body', async () => {
  const [head, get] = [await call(anonymous, 'HEAD /notes/7'), await call(anonymous, 'GET /notes/7')];
  expect(head).toMatchObject({ status: 200, body: '' });
  expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
});

test('a body may be as large as its operation allows, and no larger', async () => {
  const text = 'x'.repeat(200_000);
  expect((await call(anonymous, 'POST /large', { text })).body).toEqual({ length: 200_000 });
  expect(await call(anonymous, 'POST /large', { text: text + text })).toMatchObject({
    status: 413,
    body: { code: 'PAYLOAD_TOO_LARGE', detail: 'Body over 262144 bytes' },
  });
  expect(await call(ann, 'POST /notes', { text })).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
});

test('a body without a length is refused as soon as it is too large', async () => {
  const { hostname, port } = new URL(service.url);
  const principal = service.principals.sign({ ...anonymous, rpc: rpcName(TrialService.method.measureText) });
  const request = httpRequest({ hostname, port, method: 'POST', headers: { 'acsp-principal': principal } });
  for (let part = 0; part < 5; part++) request.write('x'.repeat(64 * 1024));
  const response = await new Promise<{ statusCode?: number | undefined }>((resolve) =>
    request.once('response', resolve),
  );
  expect(response.statusCode).toBe(413);
  request.destroy();
});

test.each(['', '[1]', '{', '"text"', 'null'])('a body that is no JSON object is refused: %s', async (body) => {
  expect(await call(ann, 'POST /notes', body)).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
});

test('a body that is not UTF-8 is refused', async () => {
  const body = Buffer.from([...Buffer.from('{"text":"'), 0xff, ...Buffer.from('"}')]);
  expect(await call(ann, 'POST /notes', body)).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
});

test('a refusal is a problem with its code, request id and fields', async () => {
  const answer = await call({ ...anonymous, requestId: 'r-7' }, 'GET /notes/7?colour=green');
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer).toMatchObject({
    status: 400,
    body: {
      code: 'INVALID_FIELD',
      status: 400,
      request_id: 'r-7',
      errors: [{ field: 'colour', message: 'one of red, blue' }],
    },
  });
  expect(answer.body).not.toHaveProperty('retry_after_seconds');
});

test('without a principal, or with one of another deployment, the answer is 401 with a challenge', async () => {
  const forged = await fetch(`${service.url}/api/acsp/notes`, { headers: { 'acsp-principal': 'bm9uZQ.bm9uZQ' } });
  for (const { status, headers } of [await call(undefined, 'POST /notes', { text: 'x' }), forged]) {
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="acsp"');
  }
});

test('a caller whom nobody knows is refused before the fields are looked at', async () => {
  expect(await call(anonymous, 'POST /notes', {})).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
});

test('an rpc that the service lacks, one for services only and none at all are answered 503', async () => {
  for (const rpc of ['acsp.trial.v1.TrialService/Later', rpcName(TrialService.method.whoAsks), undefined]) {
    const response = await withRpc(rpc);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      detail: expect.stringContaining('not available'),
    });
  }
});

test('the operation is the one that the gateway signed, whatever the path', async () => {
  const response = await withRpc(rpcName(TrialService.method.countNotes), { method: 'POST', body: '{}' });
  expect(await response.json()).toMatchObject({ notes: expect.any(Number) });
});

test('a fault says nothing of the inside, an outage is 503', async () => {
  expect(await call(anonymous, 'POST /misbehave', { how: 'break' })).toMatchObject({
    status: 500,
    body: { code: 'INTERNAL_ERROR', detail: 'Internal error' },
  });
  const outage = await call(anonymous, 'POST /misbehave', { how: 'fail' });
  expect(outage).toMatchObject({ status: 503, body: { detail: 'Service unavailable', retry_after_seconds: 1 } });
  expect(outage.headers.get('retry-after')).toBe('1');
});

test('the AID that a body names must be the caller', async () => {
  const { aid } = ann;
  for (const fields of [{ aid }, { from: aid }, { from: aid, aid }, {}, { aid: null }]) {
    expect(await call(ann, 'POST /notes/signed', { ...fields, text: 'x' })).toMatchObject({
      status: 200,
      body: { by: aid },
    });
  }
  for (const fields of [{ aid: 'b' }, { from: 'b' }, { from: aid, aid: 'b' }, { from: 'b', aid }]) {
    expect(await call(ann, 'POST /notes/signed', { ...fields, text: 'x' })).toMatchObject({
      status: 403,
      body: { code: 'AID_MISMATCH' },
    });
  }
});

test('calls are counted and timed by operation and code', async () => {
  await call(anonymous, 'POST /misbehave', { how: 'refuse' });
  await call(anonymous, 'POST /misbehave', { how: 'none' });
  const metrics = await renderMetrics();
  for (const code of ['OK', 'GROUP_FULL', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']) {
    expect(metrics).toMatch(
      new RegExp(`acsp_request_seconds_count\\{door="public",operation="Misbehave",code="${code}"\\} [1-9]`),
    );
  }
  expect(metrics).toMatch(/acsp_request_seconds_count\{door="public",operation="none",code="AUTH_REQUIRED"\} [1-9]/);
});
