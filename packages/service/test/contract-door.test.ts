import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { connectRpc } from '@acsp/rpc';
import { renderMetrics } from '@acsp/telemetry';
import { agent, anonymous, startService, type TestService } from '@acsp/testkit';
import { create } from '@bufbuild/protobuf';
import { createPeer, type Peer } from '../src/index.js';
import { CreateNoteRequestSchema, TrialService } from './generated/proto/acsp/trial/v1/trial_pb.js';
import { type Context, trial } from './trial/service.js';

let service: TestService<Context>;
let peer: Peer<typeof TrialService>;
const ann = agent('Ann');

beforeAll(async () => {
  service = await startService(trial);
  const { address, principals } = service;
  peer = createPeer(TrialService, { address, principals, name: 'caller' });
});
afterAll(async () => {
  peer[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const refused = (code: string) => expect.objectContaining({ name: 'AppError', code });

test('a peer calls the operations of the public door, on behalf of an agent', async () => {
  const note = await peer.createNote({ text: 'over gRPC' }, { caller: ann });
  expect(note).toEqual({ id: expect.any(String), text: 'over gRPC' });
  expect(await peer.getNote({ id: '7' }, { caller: anonymous })).toEqual({ id: '7', colour: null });
  expect(await peer.listNotes({})).toEqual({ texts: ['over gRPC'] });
});

test('bytes travel as bytes', async () => {
  const { body } = await peer.exchangeMessage({ body: Buffer.from('{"id":1}') });
  expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({
    id: 1,
    result: Buffer.from('{"id":1}').toString('hex'),
  });
});

test('an operation for services is theirs alone, and sees who asks and for which request', async () => {
  const call = {
    caller: { ...ann, requestId: 'r-9' },
    deadline: Date.now() + 5_000,
    signal: new AbortController().signal,
  };
  expect(await peer.whoAsks({}, { call })).toEqual({ name: 'caller', via: 'service', aid: null, request_id: 'r-9' });
  await expect(peer.whoAsks({}, { caller: ann })).rejects.toEqual(refused('PERMISSION_DENIED'));
});

test('a refusal keeps its code, detail and fields, and its delay', async () => {
  await expect(peer.misbehave({ how: 'refuse' })).rejects.toMatchObject({
    code: 'GROUP_FULL',
    message: 'No more',
    fields: [{ field: 'how', message: 'no' }],
  });
  await expect(peer.misbehave({ how: 'fail' })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryAfterSeconds: 1,
  });
  await expect(peer.misbehave({ how: 'break' })).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
    message: 'Internal error',
  });
});

test('the fields are checked as at the public door: an empty text is an absent one', async () => {
  await expect(peer.createNote({ text: '' }, { caller: ann })).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    fields: [{ field: 'text', message: 'required' }],
  });
});

test('the caller need not be named again, and nobody else may be', async () => {
  expect(await peer.signNote({ text: 'x' }, { caller: ann })).toEqual({ by: ann.aid });
  for (const fields of [{ aid: 'b' }, { from: 'b' }, { from: ann.aid, aid: 'b' }]) {
    await expect(peer.signNote({ text: 'x', ...fields }, { caller: ann })).rejects.toEqual(refused('AID_MISMATCH'));
  }
  await expect(peer.signNote({ text: 'x' }, { caller: anonymous })).rejects.toEqual(refused('AUTH_REQUIRED'));
});

test('a call without a principal is refused', async () => {
  using connection = connectRpc(service.address);
  const request = create(CreateNoteRequestSchema, { text: 'x' });
  const call = connection.unary(TrialService.method.createNote, request, { headers: {}, deadline: Date.now() + 5_000 });
  await expect(call).rejects.toEqual(refused('AUTH_REQUIRED'));
});

test('a peer that is away, and one that lacks the rpc, are SERVICE_UNAVAILABLE', async () => {
  const { principals, address } = service;
  const away = createPeer(TrialService, { address: '127.0.0.1:1', principals, name: 'caller' });
  await expect(away.listNotes({}, { timeoutMs: 1_000 })).rejects.toEqual(refused('SERVICE_UNAVAILABLE'));
  away[Symbol.dispose]();
  const earlier = createPeer(TasksService, { address, principals, name: 'caller' });
  await expect(earlier.getTask({ id: '7' })).rejects.toEqual(refused('SERVICE_UNAVAILABLE'));
  earlier[Symbol.dispose]();
});

test('calls are counted and timed by operation and code', async () => {
  const metrics = await renderMetrics();
  for (const code of ['OK', 'INVALID_FIELD']) {
    expect(metrics).toMatch(
      new RegExp(`acsp_request_seconds_count\\{door="contract",operation="CreateNote",code="${code}"\\} [1-9]`),
    );
  }
});
