import { once } from 'node:events';
import { collectLog, eventually } from '@acsp/testkit';
import { type Link, reconnecting } from '../src/index.js';

/** A server whose connections are numbered; the test takes it away, brings it back and cuts connections. */
function server() {
  const cuts: AbortController[] = [];
  let closed = 0;
  const state = { up: true };
  const open = async (): Promise<Link<number>> => {
    if (!state.up) throw new Error('connection refused');
    const cut = new AbortController();
    const value = cuts.push(cut);
    const close = async () => {
      closed += 1;
      cut.abort();
    };
    return { value, lost: cut.signal, close };
  };
  return {
    state,
    open,
    cut: () => cuts.at(-1)?.abort(new Error('cut')),
    closed: () => closed,
    opened: () => cuts.length,
  };
}

test('the present connection is answered at once, and after a loss the next one', async () => {
  const { open, cut } = server();
  await using connection = reconnecting({ name: 'test', open, log: collectLog().log });
  expect(await connection.current(1_000)).toBe(1);
  expect(await connection.current(0)).toBe(1);
  cut();
  expect(await connection.current(1_000)).toBe(2);
});

test('while the server is away waiting for a connection ends after its time', async () => {
  const { open, state } = server();
  state.up = false;
  await using connection = reconnecting({ name: 'test', open, log: collectLog().log });
  await expect(connection.current(20)).rejects.toThrow('A connection to test took longer than 20 ms');
  state.up = true;
  expect(await connection.current(2_000)).toBe(1);
});

test('a task runs on every connection, and its signal aborts with the connection', async () => {
  const { open, cut } = server();
  await using connection = reconnecting({ name: 'test', open, log: collectLog().log });
  const events: string[] = [];
  await using _ = connection.onEvery('task', async (value, signal) => {
    events.push(`began ${value}`);
    await once(signal, 'abort');
    events.push(`ended ${value}`);
  });
  await eventually(() => events.length === 1);
  cut();
  await eventually(() => events.length === 3);
  expect(events).toEqual(['began 1', 'ended 1', 'began 2']);
});

test('a task that fails begins again on the same connection', async () => {
  const { open, opened } = server();
  const { log, lines } = collectLog();
  await using connection = reconnecting({ name: 'test', open, log });
  let runs = 0;
  await using _ = connection.onEvery('task', async (_value, signal) => {
    runs += 1;
    if (runs === 1) throw new Error('not yet');
    await once(signal, 'abort');
  });
  await eventually(() => runs === 2);
  expect(opened()).toBe(1);
  expect(lines).toMatchObject([{ level: 'warn', job: 'task', err: { message: 'not yet' } }]);
});

test('disposing a task waits for it and leaves the connection open', async () => {
  const { open, closed } = server();
  await using connection = reconnecting({ name: 'test', open, log: collectLog().log });
  let [begun, ended] = [false, false];
  const task = connection.onEvery('task', async (_value, signal) => {
    begun = true;
    await once(signal, 'abort');
    await new Promise(setImmediate);
    ended = true;
  });
  await eventually(() => begun);
  await task[Symbol.asyncDispose]();
  expect([ended, closed()]).toEqual([true, 0]);
});

test('an outage is one line, and so is its end', async () => {
  const { open, state, cut, opened } = server();
  const { log, lines } = collectLog();
  let attempts = 0;
  const counted = () => {
    attempts += 1;
    return open();
  };
  await using _ = reconnecting({ name: 'test', open: counted, log });
  await eventually(() => opened() === 1);
  state.up = false;
  cut();
  await eventually(() => attempts >= 4);
  state.up = true;
  await eventually(() => opened() === 2);
  expect(lines).toMatchObject([
    { level: 'warn', server: 'test', err: { message: 'cut' }, message: 'a connection was lost' },
    { level: 'info', server: 'test', message: 'a connection is back' },
  ]);
});

test('disposing closes the connection and opens no other', async () => {
  const { open, closed, opened } = server();
  const connection = reconnecting({ name: 'test', open, log: collectLog().log });
  await connection.current(1_000);
  await connection[Symbol.asyncDispose]();
  expect([opened(), closed()]).toEqual([1, 1]);
});
