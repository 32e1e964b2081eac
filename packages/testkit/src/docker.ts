import { get } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ServerName } from '@acsp/local';
import type { GenericContainer, StartedTestContainer } from 'testcontainers';

/** The servers of docker-compose.yml, for tests. */
const recipes = {
  postgres: {
    image: 'pgvector/pgvector:pg17',
    port: 5432,
    url: (at: string) => `postgresql://acsp:acsp@${at}/postgres`,
    prepare: (container: GenericContainer) =>
      container
        .withEnvironment({ POSTGRES_USER: 'acsp', POSTGRES_PASSWORD: 'acsp' })
        .withCommand(['postgres', '-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off']),
  },
  nats: {
    image: 'nats:2-alpine',
    port: 4222,
    url: (at: string) => `nats://${at}`,
    prepare: (container: GenericContainer) => container.withCommand(['-js']),
  },
  redis: {
    image: 'redis:8-alpine',
    port: 6379,
    url: (at: string) => `redis://${at}`,
    prepare: (container: GenericContainer) => container,
  },
};

/** Asks the engine at its socket: a Docker command without an engine is common. */
export async function dockerAnswers(): Promise<boolean> {
  const sockets = ['/var/run/docker.sock', join(homedir(), '.docker/run/docker.sock')];
  const hosts = process.env.DOCKER_HOST ? [process.env.DOCKER_HOST] : sockets.map((path) => `unix://${path}`);
  for (const host of hosts) if (await answers(new URL(host))) return true;
  return false;
}

function answers({ protocol, hostname, port, pathname }: URL): Promise<boolean> {
  const address = protocol === 'unix:' ? { socketPath: decodeURI(pathname) } : { host: hostname, port: port || 2375 };
  return new Promise((resolve) => {
    const request = get({ ...address, path: '/_ping', timeout: 500 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
    request.on('close', () => resolve(false));
  });
}

/** `hostPort` fixes the port, so that it stays the same over a restart. */
export async function startContainer(
  name: ServerName,
  hostPort?: number,
): Promise<{ url: string; id: string } & AsyncDisposable> {
  // The cleaner of testcontainers is one more image to fetch; the run stops its containers itself, whenever it ends.
  process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
  const testcontainers = await import('testcontainers');
  const { image, port, url, prepare } = recipes[name];
  const container = prepare(new testcontainers.GenericContainer(image));
  const started: StartedTestContainer = await container
    .withExposedPorts(hostPort ? { container: port, host: hostPort } : port)
    .withStartupTimeout(60_000)
    .start();
  return {
    url: url(`${started.getHost()}:${started.getMappedPort(port)}`),
    id: started.getId(),
    [Symbol.asyncDispose]: async () => void (await started.stop()),
  };
}
