import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildServer, ChildServerFailure, startChildServer } from './child-server.js';
import { freePort } from './free-port.js';
import { localServer, programs } from './local-server.js';
import { LocalServerError } from './local-server-error.js';

/** A server of this machine, for one owner. */
export interface LocalServer extends AsyncDisposable {
  url: string;
  /** The id of the process that runs now. */
  readonly pid: number;
  /** Sends SIGKILL, as an outage would. */
  kill(): Promise<void>;
  /** Kills it if it still runs; the same port and the same data afterwards. */
  restart(): Promise<void>;
}

/** NATS with JetStream on 127.0.0.1; `storeDir` keeps the streams, by default a temporary directory does. */
export function startNats({ storeDir }: { storeDir?: string } = {}): Promise<LocalServer> {
  return startLocalServer({
    name: 'nats',
    directory: storeDir,
    ready: /Server is ready/,
    args: (port, directory) => ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory],
  });
}

/** Redis on 127.0.0.1, which keeps nothing across a restart. */
export function startRedis(): Promise<LocalServer> {
  return startLocalServer({
    name: 'redis',
    ready: /Ready to accept connections/,
    args: (port, directory) => [
      '--bind',
      '127.0.0.1',
      '--port',
      String(port),
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      directory,
    ],
  });
}

interface Recipe {
  name: 'nats' | 'redis';
  directory?: string;
  ready: RegExp;
  args(port: number, directory: string): string[];
}

async function startLocalServer({ name, directory, ready, args }: Recipe): Promise<LocalServer> {
  const command = localServer(name);
  if (!command)
    throw new LocalServerError(
      'UNAVAILABLE',
      `There is no ${programs[name]} here: infra/local/fetch-servers.sh fetches one.`,
    );
  const cwd = directory ?? (await mkdtemp(join(tmpdir(), `acsp-${name}-`)));
  await mkdir(cwd, { recursive: true });
  const startOn = (port: number) =>
    startChildServer({
      command,
      args: args(port, cwd),
      cwd,
      ready,
      stopSignals: [{ signal: 'SIGTERM', waitMs: 5_000 }],
    });
  const { port, server } = await onFreePort(startOn);
  let current = server;
  return {
    url: `${name}://127.0.0.1:${port}`,
    get pid() {
      return current.pid;
    },
    kill: () => current.kill(),
    async restart() {
      await current.kill();
      current = await startOn(port);
    },
    async [Symbol.asyncDispose]() {
      await current.stop();
      if (!directory) await rm(cwd, { recursive: true, force: true });
    },
  };
}

async function onFreePort(
  startOn: (port: number) => Promise<ChildServer>,
): Promise<{ port: number; server: ChildServer }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { port, server: await startOn(port) };
    } catch (error) {
      const taken = error instanceof ChildServerFailure && /in use/i.test(error.output.join('\n'));
      if (!taken || attempt === 3) throw error;
    }
  }
}
