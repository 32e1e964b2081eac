import { anonymous, eventually, startService, type TestService } from '@acsp/testkit';
import { createPeer, type Peer } from '../src/index.js';
import { TrialService } from './generated/proto/acsp/trial/v1/trial_pb.js';
import { type Context, trial } from './trial/service.js';

/** `near` calls `far`. */
let near: TestService<Context>;
let far: TestService<Context>;
let peer: Peer<typeof TrialService>;

beforeAll(async () => {
  far = await startService(trial);
  near = await startService(trial, { env: { PEER_ADDRESS: far.address } });
  peer = createPeer(TrialService, { address: near.address, principals: near.principals, name: 'caller' });
});
afterEach(() => {
  for (const { context } of [near, far]) context.seen.signals.length = 0;
});
afterAll(async () => {
  peer[Symbol.dispose]();
  await near[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
});

const signalOf = (service: TestService<Context>) => eventually(() => service.context.seen.signals[0] ?? false);
const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

/** A call of the caller's own, in whose place it asks a peer. */
const callWithin = (ms: number, signal = new AbortController().signal) => ({
  call: { caller: anonymous, deadline: Date.now() + ms, signal },
});

describe('the signal of a call ends', () => {
  test('when the client of the public door goes', async () => {
    const client = new AbortController();
    const request = near.send(anonymous, 'POST /misbehave', { body: { how: 'hang' }, signal: client.signal });
    const signal = await signalOf(near);
    expect(signal.aborted).toBe(false);
    client.abort();
    await expect(request).rejects.toThrow('aborted');
    await eventually(() => signal.aborted);
  });

  test('when the client of the contract door goes', async () => {
    const client = new AbortController();
    const request = peer.misbehave({ how: 'hang' }, callWithin(5_000, client.signal));
    const signal = await signalOf(near);
    expect(signal.aborted).toBe(false);
    client.abort();
    await expect(request).rejects.toEqual(unavailable);
    await eventually(() => signal.aborted);
  });

  test('when its deadline over gRPC passes', async () => {
    const startedAt = Date.now();
    await expect(peer.misbehave({ how: 'hang' }, { timeoutMs: 300 })).rejects.toEqual(unavailable);
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    await eventually(async () => (await signalOf(near)).aborted);
  });

  test('at the peer too that is called in between', async () => {
    const client = new AbortController();
    const request = near.send(anonymous, 'POST /pass-on', { body: { how: 'hang' }, signal: client.signal });
    const signal = await signalOf(far);
    client.abort();
    await expect(request).rejects.toThrow('aborted');
    await eventually(() => signal.aborted);
  });

  test('and not with an answer that was heard', async () => {
    await near.call(anonymous, 'POST /misbehave', { how: 'look' });
    const signal = await signalOf(near);
    await new Promise(setImmediate);
    expect(signal.aborted).toBe(false);
  });
});

describe('a deadline', () => {
  test('of the public door is before the gateway gives up, and a peer has 5 s at most', async () => {
    const before = Date.now();
    const { body } = await near.call(anonymous, 'POST /misbehave', { how: 'none' });
    expect(body.deadline - before).toBeGreaterThan(20_000);
    expect(body.deadline - before).toBeLessThan(28_000);
    const passed = await near.call(anonymous, 'POST /pass-on', { how: 'none' });
    expect(passed.body.deadline - before).toBeLessThan(6_000);
  });

  test('over gRPC travels on to the peer that is called in between', async () => {
    const before = Date.now();
    const { deadline } = await peer.passOn({ how: 'none' }, callWithin(1_500));
    expect(deadline).toBeGreaterThan(before);
    expect(deadline).toBeLessThan(before + 1_700);
    const shorter = await peer.passOn({ how: 'none', within_ms: 400 }, callWithin(1_500));
    expect(shorter.deadline).toBeLessThan(Date.now() + 500);
  });

  test('that has passed calls nobody', async () => {
    await expect(peer.misbehave({ how: 'look' }, callWithin(-1))).rejects.toEqual(unavailable);
    expect(near.context.seen.signals).toEqual([]);
  });

  test('of a call that hangs at a peer is answered 503 in time', async () => {
    const startedAt = Date.now();
    expect(await near.call(anonymous, 'POST /pass-on', { how: 'hang', within_ms: 300 })).toMatchObject({ status: 503 });
    expect(Date.now() - startedAt).toBeLessThan(2_000);
  });
});
