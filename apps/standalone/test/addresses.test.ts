import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { openServer } from '@acsp/http';
import { service as identity } from '@acsp/identity/service';
import { loadConfig } from '@acsp/service';
import { configSchema } from '../src/config.js';
import { startWorld } from './harness.js';

// Addresses in the forms in which people write them: where it listens, how agents reach it, and who stands in front of it.

const quickstart = (body = { agent_name: 'Mara', capabilities: ['x'] }) => ({ body: JSON.stringify(body) });

const serves = async (HOST: string) => {
  await using world = await startWorld({ env: { HOST } });
  const mara = await world.quickstart('Mara');
  const { body } = await world.send('POST /agent-init', quickstart());
  const { body: link } = await world.call(mara, 'POST /connect', { aid: mara.aid });
  for (const url of [`${world.url}/api/acsp/status`, body.agent_link, link.connect_url]) {
    const { status } = await fetch(url, { headers: { accept: 'application/json' } });
    expect({ url, status }).toEqual({ url, status: 200 });
  }
};

test.each(['127.0.0.1', 'localhost', '0.0.0.0'])('HOST=%s serves, and its links can be opened', serves);

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
const withIpv6 = hasIpv6 ? test : test.skip;
const leftOut = hasIpv6 ? '' : ' [left out: no IPv6 on this machine]';
withIpv6.each(['::', '::1', '[::1]'])(`HOST=%s serves, and its links can be opened${leftOut}`, serves);

test('links lead to PUBLIC_URL where there is one, with or without a slash behind it', async () => {
  for (const PUBLIC_URL of ['https://acsp.example.org/network', 'https://acsp.example.org/network/']) {
    await using world = await startWorld({ env: { PUBLIC_URL } });
    const { body } = await world.send('POST /agent-init', quickstart());
    expect(body.agent_link).toMatch(/^https:\/\/acsp\.example\.org\/network\/\w/);
  }
});

test('links with the path of PUBLIC_URL work behind a proxy that takes it off', async () => {
  let target = '';
  const proxy = createServer(async ({ url = '', headers: { accept = '' } }, response) => {
    const { status, body } = await fetch(target + url.replace(/^\/network/, ''), { headers: { accept } });
    response.writeHead(status).end(Buffer.from((await new Response(body).arrayBuffer()) as ArrayBuffer));
  });
  await using open = await openServer(proxy, { port: 0, host: '127.0.0.1', drainMs: 0 });
  await using world = await startWorld({ env: { PUBLIC_URL: `${open.url}/network` } });
  target = world.url;
  const mara = await world.quickstart('Mara');
  const { body } = await world.send('POST /agent-init', quickstart());
  const { body: link } = await world.call(mara, 'POST /connect', { aid: mara.aid });
  for (const url of [body.agent_link, link.connect_url]) {
    expect(url).toContain('/network/api/acsp/');
    const { status } = await fetch(url, { headers: { accept: 'application/json' } });
    expect({ url, status }).toEqual({ url, status: 200 });
  }
});

test.each([
  ...['acsp.example.org:8080', 'acsp.example.org', 'ftp://acsp.example.org'],
  ...['https://acsp.example.org?a=1', 'https://acsp.example.org/network?', 'https://acsp.example.org/?a=1'],
  ...['https://acsp.example.org#x', 'https://acsp.example.org/network#'],
  ...['https://user@acsp.example.org', 'https://user:password@acsp.example.org/', 'https://:@acsp.example.org'],
])('PUBLIC_URL=%s is refused by name', (PUBLIC_URL) => {
  for (const schema of [configSchema, identity.config])
    expect(() => loadConfig(schema, { PUBLIC_URL })).toThrow(/PUBLIC_URL is wrong \([a-z]/);
});

test.each(['DATABASE_URL=db:5432/acsp', 'NATS_URL=http://nats', 'REDIS_URL=http://redis'])(
  '%s is refused by name',
  (text) => {
    const [name = '', value = ''] = text.split('=');
    expect(() => loadConfig(configSchema, { [name]: value })).toThrow(new RegExp(`${name} is wrong \\([a-z]`));
  },
);

test('HOST with a zone needs a PUBLIC_URL, because no link can lead to it', async () => {
  await expect(startWorld({ env: { HOST: 'fe80::1%lo' } })).rejects.toThrow(/PUBLIC_URL is not set.*HOST/);
});

test.each(['256.1.1.1', 'no such host', '::1::', 'localhost:8080', 'http://localhost'])(
  'HOST=%s is refused by name',
  (HOST) => {
    expect(() => loadConfig(configSchema, { HOST })).toThrow(/HOST is wrong/);
  },
);

test('TRUST_PROXY of the standalone is that of its gateway: clients behind a proxy have limits of their own', async () => {
  await using world = await startWorld({ rateLimitScale: 1, env: { TRUST_PROXY: 'forwarded' } });
  const from = async (client: string) =>
    (await world.send('POST /quickstart', { ...quickstart(), headers: { forwarded: `for=${client}` } })).status;
  for (let n = 0; n < 5; n += 1) expect(await from('"[2001:db8::1]:4711"')).toBe(201);
  expect(await from('"[2001:db8::1]:4712"')).toBe(429);
  expect(await from('192.0.2.7')).toBe(201);
});
