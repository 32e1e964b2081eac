import { connect } from 'node:net';
import pg from 'pg';
import { describeWith, eventually, ownNats, ownRedis, serverUrl, testDatabase } from '../src/index.js';

async function databases(like: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: serverUrl('postgres') });
  await client.connect();
  const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database WHERE datname = $1', [
    like,
  ]);
  await client.end();
  return rows.map((row) => row.datname);
}

test('gives each test file an empty database, and drops it although somebody is still connected', async () => {
  const one = await testDatabase();
  const other = await testDatabase();
  expect(one.url).not.toBe(other.url);
  const client = new pg.Client({ connectionString: one.url });
  client.on('error', () => {});
  await client.connect();
  expect((await client.query("SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace")).rowCount).toBe(0);
  await Promise.all([one, other].map((database) => database[Symbol.asyncDispose]()));
  for (const { url } of [one, other]) expect(await databases(new URL(url).pathname.slice(1))).toEqual([]);
});

describeWith('own nats', 'NATS of its own', () => {
  test('comes back on the same port after a kill', async () => {
    await using nats = await ownNats();
    const { url, pid } = nats;
    await nats.kill();
    await expect(greeting(url)).rejects.toThrow(/ECONNREFUSED/);
    await nats.restart();
    expect(nats.url).toBe(url);
    expect(nats.pid).not.toBe(pid);
    expect(await eventually(async () => (await greeting(url)) || false)).toMatch(/^INFO .*"jetstream":true/);
  });
});

describeWith('own redis', 'Redis of its own', () => {
  test('comes back on the same port after a kill', async () => {
    await using redis = await ownRedis();
    const { url } = redis;
    expect(await greeting(url, 'PING\r\n')).toBe('+PONG\r\n');
    await redis.kill();
    await expect(greeting(url)).rejects.toThrow(/ECONNREFUSED/);
    await redis.restart();
    expect(await eventually(() => greeting(url, 'PING\r\n'))).toBe('+PONG\r\n');
  });
});

describeWith('nats', 'the NATS of the run', () => {
  test('has JetStream', async () => {
    expect(await greeting(serverUrl('nats'))).toMatch(/"jetstream":true/);
  });
});

/** The first bytes that a server sends. */
async function greeting(url: string, question = ''): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  if (question) socket.write(question);
  try {
    for await (const chunk of socket) return String(chunk);
    return '';
  } finally {
    socket.destroy();
  }
}
