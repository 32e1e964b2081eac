import { once } from 'node:events';
import type { Agent } from '@acsp/operation';
import { agent, eventually, principalSecret, spawnSource, startService, type TestService } from '@acsp/testkit';
import { createPeer } from '../src/index.js';
import { TrialService } from './generated/proto/acsp/trial/v1/trial_pb.js';
import { type Context, trial } from './trial/service.js';

let service: TestService<Context>;

beforeEach(async () => {
  service = await startService(trial);
});
afterEach(() => service[Symbol.asyncDispose]());

const ann = agent('Ann');

/** Ann, whose request has an Idempotency-Key. */
const under = (key: string, print = 'print'): Agent => ({ ...ann, idempotency: { key, print } });

const texts = async () =>
  (await service.context.database.prisma.note.findMany({ orderBy: { text: 'asc' } })).map(({ text }) => text);
const keptAnswers = async () =>
  (await service.context.database.pool.query('SELECT key, status FROM idempotency.answer')).rows;
const replayed = (answer: { readonly headers: Headers }) => answer.headers.get('idempotency-replayed');

test.each(['/notes', '/notes/batch'])(
  'a repetition of POST %s gets the first answer, and has no effect',
  async (path) => {
    const first = await service.call(under('k'), `POST ${path}`, { text: 'a' });
    const second = await service.call(under('k'), `POST ${path}`, { text: 'a' });
    expect(first).toMatchObject({ status: 201, body: { text: 'a' } });
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect([replayed(first), replayed(second)]).toEqual([null, 'true']);
    expect(second.headers.get('content-type')).toBe('application/json');
    expect(service.context.seen.calls).toBe(1);
    expect(await texts()).toEqual(['a']);
  },
);

test('an operation that changes nothing is answered as the first time', async () => {
  const count = () => service.call(under('k'), 'POST /notes/count', {});
  expect((await count()).body).toEqual({ notes: 0, calls: 1 });
  await service.call(ann, 'POST /notes', { text: 'a' });
  expect((await count()).body).toEqual({ notes: 0, calls: 1 });
});

test('another request under the same key is refused, and another key is another request', async () => {
  await service.call(under('k'), 'POST /notes', { text: 'a' });
  expect(await service.call(under('k', 'other'), 'POST /notes', { text: 'b' })).toMatchObject({
    status: 422,
    body: { code: 'IDEMPOTENCY_KEY_REUSED' },
  });
  expect(await service.call(under('k2', 'other'), 'POST /notes', { text: 'b' })).toMatchObject({ status: 201 });
  expect(await texts()).toEqual(['a', 'b']);
});

describe('of two requests at once', () => {
  test.each([
    ['one whose change conflicts with the first', '/notes', 'held'],
    ['one whose change does not', '/notes', 'copied'],
    ['one in a batch', '/notes/batch', undefined],
  ])('%s has the same answer and no effect', async (_name, path, outcome) => {
    const requests = Array.from({ length: 6 }, () => service.call(under('k'), `POST ${path}`, { text: 'a', outcome }));
    await eventually(() => service.context.seen.calls >= 2);
    service.context.seen.gate.open();
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ status, body }) => JSON.stringify({ status, body }))).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    expect(await texts()).toHaveLength(1);
    expect(await keptAnswers()).toHaveLength(1);
  });

  test('one with another body is refused', async () => {
    const first = service.call(under('k'), 'POST /notes', { text: 'a', outcome: 'held' });
    await eventually(() => service.context.seen.calls === 1);
    const second = service.call(under('k', 'other'), 'POST /notes', { text: 'b', outcome: 'held' });
    await eventually(() => service.context.seen.calls === 2);
    service.context.seen.gate.open();
    expect([(await first).status, (await second).status].sort()).toEqual([201, 422]);
    expect(await texts()).toHaveLength(1);
  });
});

describe('the effect is committed, and a repetition is answered for it, when', () => {
  test('the client went before the answer', async () => {
    const client = new AbortController();
    const body = { text: 'a', outcome: 'lost' };
    const lost = service.send(under('k'), 'POST /notes', { body, signal: client.signal });
    await eventually(async () => (await texts()).length === 1);
    client.abort();
    await expect(lost).rejects.toThrow('aborted');
    const repeated = await service.call(under('k'), 'POST /notes', body);
    expect(repeated).toMatchObject({ status: 201, body: { text: 'a' } });
    expect(replayed(repeated)).toBe('true');
    expect(await texts()).toEqual(['a']);
  });

  test('the process was killed before the answer', async () => {
    const killed = await startChild(service.databaseUrl);
    const body = { text: 'a', outcome: 'killed' };
    const principal = { ...under('k'), rpc: 'acsp.trial.v1.TrialService/CreateNote' };
    const request = fetch(`${killed.url}/api/acsp/notes`, {
      method: 'POST',
      headers: { 'acsp-principal': service.principals.sign(principal) },
      body: JSON.stringify(body),
    });
    await expect(request).rejects.toThrow('fetch failed');
    expect(await killed.signal).toBe('SIGKILL');
    const repeated = await service.call(under('k'), 'POST /notes', body);
    expect(repeated).toMatchObject({ status: 201, body: { text: 'a' } });
    expect(replayed(repeated)).toBe('true');
    expect(service.context.seen.calls).toBe(0);
    expect(await texts()).toEqual(['a']);
  });
});

describe('of answers that are no success', () => {
  test('a refusal is kept', async () => {
    const refused = () => service.call(under('k'), 'POST /notes', { text: 'a', outcome: 'refused' });
    const [first, second] = [await refused(), await refused()];
    expect(first).toMatchObject({ status: 409, body: { code: 'GROUP_FULL' } });
    expect(second).toMatchObject({ status: 409, body: first.body });
    expect(second.headers.get('content-type')).toBe('application/problem+json');
    expect([replayed(first), replayed(second)]).toEqual([null, 'true']);
    expect(service.context.seen.calls).toBe(1);
  });

  test.each([
    ['unavailable', 503],
    ['broken', 500],
    ['limited', 429],
  ])('one that asks to be tried again, or is our fault, is not: %s', async (outcome, status) => {
    const asked = () => service.call(under('k'), 'POST /notes', { text: 'a', outcome });
    expect(await asked()).toMatchObject({ status });
    expect(await asked()).toMatchObject({ status });
    expect(service.context.seen.calls).toBe(2);
    expect(await keptAnswers()).toEqual([]);
  });

  test('a body that is refused as such has no key yet', async () => {
    expect(await service.call(under('k'), 'POST /notes', '{')).toMatchObject({ status: 400 });
    expect(await keptAnswers()).toEqual([]);
  });
});

test('an answer with a secret is kept nowhere', async () => {
  const issue = () => service.call(under('k'), 'POST /notes/secret', {});
  expect([(await issue()).body, (await issue()).body]).toEqual([{ secret: 'secret 1' }, { secret: 'secret 2' }]);
  expect(await keptAnswers()).toEqual([]);
});

test('nothing commits after the deadline of the call', async () => {
  const { address, principals } = service;
  const peer = createPeer(TrialService, { address, principals, name: 'caller' });
  const late = peer.createNote({ text: 'late', outcome: 'late' }, { caller: ann, timeoutMs: 300 });
  await expect(late).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  // Its insert would wait for a transaction that is still open, and find its text taken by one that has committed.
  expect(await service.call(ann, 'POST /notes', { text: 'late' })).toMatchObject({ status: 201 });
  peer[Symbol.dispose]();
});

test('nor does a batch that waits for the database', async () => {
  const { address, principals, context } = service;
  const peer = createPeer(TrialService, { address, principals, name: 'caller' });
  const holder = await context.database.pool.connect();
  await holder.query('BEGIN; LOCK TABLE note IN ACCESS EXCLUSIVE MODE');
  const late = peer.batchNote({ text: 'late' }, { caller: ann, timeoutMs: 300 });
  await expect(late).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  // The time of a call ends at its service a moment later, by as much as it was on its way.
  const toldAt = Date.now();
  await eventually(() => Date.now() - toldAt > 300);
  await holder.query('COMMIT');
  holder.release();
  // Its insert would come before this one, which has the same key.
  expect(await service.call(ann, 'POST /notes/batch', { text: 'late' })).toMatchObject({ status: 201 });
  peer[Symbol.dispose]();
});

async function startChild(databaseUrl: string) {
  const child = spawnSource(new URL('child/trial.ts', import.meta.url), [], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      NATS_URL: 'nats://127.0.0.1:1',
      PRINCIPAL_SECRET: principalSecret,
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      GRPC_PORT: '0',
      MAY_DIE: 'true',
    },
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const url = await eventually(() => /listens on (\S+)/.exec(said)?.[1] ?? false, { timeoutMs: 15_000 });
  return { url, signal: once(child, 'exit').then(([, signal]) => signal) };
}
