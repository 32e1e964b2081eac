import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startPostgres } from '@acsp/local';
import { describeWith, eventually, ownNats } from '@acsp/testkit';
import { startReplicas, type World } from './harness.js';
import { type StandaloneProcess, startProcess } from './restart/standalone-process.js';
import { type Swarm, startSwarm } from './streams/swarm.js';

// Every stream sees every event of its feeds once and in order, whatever is cut, killed or restarted meanwhile.

const size = { publishers: 20, listeners: 50, agents: 10 };
/** More is sent after each blow. */
const goesOn = (swarm: Swarm, more: number) => {
  const before = swarm.sent();
  return eventually(() => swarm.sent() >= before + more, { timeoutMs: 60_000 });
};

test('the standalone is killed twice under load', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'acsp-streams-'));
  // PostgreSQL runs as another user where the tests run as root.
  await chmod(directory, 0o755);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let standalone: StandaloneProcess = await startProcess(directory, port);
  const swarm = await startSwarm({ ...size, urls: () => [url] });
  try {
    for (let kills = 0; kills < 2; kills += 1) {
      await goesOn(swarm, 200);
      await standalone.kill();
      standalone = await startProcess(directory, port);
    }
    await goesOn(swarm, 200);
    await swarm.expectAll();
    expect(swarm.opened()).toBeGreaterThan(3 * size.listeners);
  } finally {
    await swarm.end();
    await standalone.kill();
    // Ends the PostgreSQL that a killed standalone leaves behind.
    await (await startPostgres({ dataDir: join(directory, 'postgres') }))[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  }
}, 240_000);

describeWith('own nats', 'with two replicas of everything on NATS', () => {
  test('NATS is killed and comes back, and a replica stops', async () => {
    const nats = await ownNats();
    const worlds = await startReplicas(2, { env: { NATS_URL: nats.url } });
    const [first, second] = worlds as [World, World];
    let urls = [first.url, second.url];
    const swarm = await startSwarm({ ...size, urls: () => urls });
    try {
      await goesOn(swarm, 200);
      await nats.kill();
      await goesOn(swarm, 50);
      await nats.restart();
      await goesOn(swarm, 200);
      urls = [first.url];
      await second[Symbol.asyncDispose]();
      await goesOn(swarm, 200);
      await swarm.expectAll();
      expect(swarm.opened()).toBeGreaterThan(3 * size.listeners);
    } finally {
      await swarm.end();
      await first[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    }
  }, 240_000);
});
