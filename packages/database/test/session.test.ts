import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { eventually, quietLog as log, type TestDatabase, testDatabase } from '@acsp/testkit';
import pg from 'pg';
import { connectionSettings } from '../src/pool.js';
import { openSession, type Session } from '../src/session.js';

const ignore = () => {};

let database: TestDatabase;
let pool: pg.Pool;
let opened: AsyncDisposable[] = [];

beforeAll(async () => {
  database = await testDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 1, idleTimeoutMillis: 0 });
  // The pool has ended before its connections have closed, which dropping the database then kills.
  pool.on('error', ignore);
});
afterEach(async () => {
  for (const each of opened.reverse()) await each[Symbol.asyncDispose]();
  opened = [];
});
afterAll(async () => {
  await pool.end();
  await database[Symbol.asyncDispose]();
});

function open(name: string, url = database.url): Session {
  const session = openSession(connectionSettings(url, name), log);
  opened.push(session);
  return session;
}

const terminate = (name: string) =>
  eventually(async () => {
    const text = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1';
    return (await pool.query(text, [name])).rowCount === 1;
  });

/** A job that runs until the test ends it. */
function job() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const state = { running: false, aborted: false };
  const run = async (signal: AbortSignal) => {
    state.running = true;
    signal.addEventListener('abort', () => {
      state.aborted = true;
    });
    await ended;
  };
  return { state, run, end };
}

describe('a lock', () => {
  test('has one holder at a time, across two sessions and within one', async () => {
    const [one, two] = [open('one'), open('two')];
    const leaders = new Set<string>();
    let [active, most] = [0, 0];
    const leading = (who: string) => async (client: pg.Client) => {
      leaders.add(who);
      most = Math.max(most, ++active);
      for (let round = 0; round < 5; round++) await client.query('SELECT 1');
      active -= 1;
    };
    for (const [who, session] of Object.entries({ one, again: one, two }))
      opened.push(session.lead('turns', leading(who)));
    await eventually(() => leaders.size === 3, { timeoutMs: 10_000 });
    expect(most).toBe(1);
  });

  test('that is held makes once answer false, in its own session too, and another job runs beside it', async () => {
    const [one, two] = [open('one'), open('two')];
    const { state, run, end } = job();
    const first = one.once('job', run);
    await eventually(() => state.running);
    for (const session of [one, two]) {
      expect(await session.once('job', async () => {})).toBe(false);
      expect(await session.once('other job', async () => {})).toBe(true);
    }
    end();
    expect(await first).toBe(true);
  });

  test('is given back when its job ends, with an error too', async () => {
    const [one, two] = [open('one'), open('two')];
    expect(await one.once('short', async () => {})).toBe(true);
    expect(await two.once('short', async () => {})).toBe(true);
    const failing = two.once('short', async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await one.once('short', async () => {})).toBe(true);
  });

  test('is given back by a leader that is disposed, whose job has ended by then', async () => {
    const [one, two] = [open('one'), open('two')];
    let state = 'waiting';
    const leading = one.lead('disposed', async (_client, signal) => {
      state = 'running';
      await once(signal, 'abort');
      await new Promise(setImmediate);
      state = 'ended';
    });
    await eventually(() => state === 'running');
    expect(await two.once('disposed', async () => {})).toBe(false);
    await leading[Symbol.asyncDispose]();
    expect(state).toBe('ended');
    expect(await two.once('disposed', async () => {})).toBe(true);
  });

  test('passes on when the connection of its holder is killed, and the signal of the job aborts', async () => {
    const [holder, heir] = [open('holder'), open('heir')];
    let [leads, inherits] = [false, false];
    const outcome = new Promise((resolve) => {
      const leading = holder.lead('heirloom', async (client, signal) => {
        leads = true;
        await once(signal, 'abort');
        await eventually(() => inherits);
        // A leader that is late writes nothing any more.
        await client.query('SELECT 1').then(resolve, resolve);
      });
      opened.push(leading);
    });
    await eventually(() => leads);
    opened.push(
      heir.lead('heirloom', async (_client, signal) => {
        inherits = true;
        await once(signal, 'abort');
      }),
    );
    await terminate('holder');
    expect(await outcome).toBeInstanceOf(Error);
  });

  test('that is lost aborts the signal of a job that runs once', async () => {
    const { state, run, end } = job();
    const running = open('single').once('single', run);
    await eventually(() => state.running);
    expect(state.aborted).toBe(false);
    await terminate('single');
    await eventually(() => state.aborted);
    end();
    expect(await running).toBe(true);
  });
});

test('a channel is heard over reconnects, and what was missed meanwhile counts as heard', async () => {
  const session = open('listener');
  let heard = 0;
  const listening = session.listen('news', () => {
    heard += 1;
  });
  await eventually(() => heard === 1);
  const notify = (channel: string) => pool.query('SELECT pg_notify($1, $2)', [channel, '']);
  await notify('other');
  await notify('news');
  await eventually(() => heard === 2);
  await terminate('listener');
  await eventually(() => heard === 3);
  await notify('news');
  await eventually(() => heard === 4);
  await listening[Symbol.asyncDispose]();
  await notify('news');
  // The same connection has had the notification when it answers.
  await session.ping();
  expect(heard).toBe(4);
});

describe('a ping', () => {
  const unavailable = { code: 'SERVICE_UNAVAILABLE' };

  test('resolves, and measures the clock', async () => {
    const session = open('ready');
    await session.ping();
    expect(Math.abs(session.clockAheadMs())).toBeLessThan(1_000);
  });

  test('rejects while the database is read-only, and resolves soon after', async () => {
    const name = pg.escapeIdentifier(new URL(database.url).pathname.slice(1));
    const session = open('reader');
    await session.ping();
    await pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    try {
      await terminate('reader');
      const cause = { message: 'PostgreSQL takes no writes' };
      await eventually(() => expect(session.ping()).rejects.toMatchObject({ ...unavailable, cause }));
    } finally {
      await pool.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    }
    await eventually(() => session.ping());
  });

  test('rejects while PostgreSQL is away', async () => {
    await using proxy = await postgresProxy();
    const session = open('away', proxy.url);
    await session.ping();
    await proxy.close();
    await expect(session.ping()).rejects.toMatchObject(unavailable);
    await proxy.listen();
    await eventually(() => session.ping());
  });

  test('rejects while PostgreSQL does not answer, and who leads on that connection is told', async () => {
    await using proxy = await postgresProxy();
    const session = open('hanging', proxy.url);
    const { state, run, end } = job();
    const running = session.once('hanging', run);
    await eventually(() => state.running);
    proxy.hang();
    await expect(session.ping()).rejects.toMatchObject(unavailable);
    await eventually(() => state.aborted);
    end();
    await running;
  });
});

/** A proxy between a session and PostgreSQL, for outages of one session. */
async function postgresProxy() {
  const { hostname, port } = new URL(database.url);
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', ignore));
    client.pipe(upstream).pipe(client);
  });
  const url = new URL(database.url);
  const listen = async () => {
    server.listen(Number(url.port === port ? 0 : url.port), '127.0.0.1');
    await once(server, 'listening');
  };
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  await listen();
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  const hang = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return { url: url.href, listen, close, hang, [Symbol.asyncDispose]: close };
}
