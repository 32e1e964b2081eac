import { join } from 'node:path';
import { type ChildServer, ChildServerFailure, startChildServer } from './child-server.js';
import { freePort } from './free-port.js';
import { LocalServerError } from './local-server-error.js';
import type { PostgresCluster } from './postgres-cluster.js';
import type { ServerUser } from './server-user.js';

export interface PostgresServerOptions {
  cluster: PostgresCluster;
  binDir: string;
  user: ServerUser | undefined;
  /** 0 takes any free one. */
  port: number;
  fsync: boolean;
  log: (line: string) => void;
}

/** Runs the server on a cluster that nobody else has; tries again where waiting or another port helps. */
export async function startPostgresServer(
  options: PostgresServerOptions,
): Promise<{ server: ChildServer; port: number }> {
  for (const deadline = Date.now() + 10_000; ; ) {
    const port = options.port || (await freePort());
    try {
      return { port, server: await startOn(port, options) };
    } catch (error) {
      const output = error instanceof ChildServerFailure ? error.output.join('\n') : '';
      const portTaken = /could not (bind|create any TCP)/.test(output);
      if (portTaken && options.port) {
        throw new LocalServerError('PORT_TAKEN', `Port ${port} of 127.0.0.1 is taken.`, { cause: error });
      }
      // The processes of a server that was killed with SIGKILL take a moment to notice; until then they hold its shared memory.
      const leftovers = /pre-existing shared memory block/.test(output);
      if (!(portTaken || leftovers) || Date.now() > deadline)
        throw didNotStart(options.cluster.directory, error, output);
      if (leftovers) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function didNotStart(directory: string, cause: unknown, output: string): LocalServerError {
  const why = /(?:PANIC|FATAL): +(.*)/.exec(output)?.[1] ?? (cause as Error).message;
  return new LocalServerError('BROKEN', `PostgreSQL did not start on ${directory}: ${why.replace(/\.$/, '')}.`, {
    cause,
  });
}

function startOn(port: number, { cluster, binDir, user, fsync, log }: PostgresServerOptions): Promise<ChildServer> {
  const settings = { ...postgresSettings(cluster.major, fsync), port: String(port) };
  return startChildServer({
    command: join(binDir, 'postgres'),
    args: ['-D', cluster.directory, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    cwd: cluster.directory,
    user,
    ready: /database system is ready to accept connections/,
    // Crash recovery after a kill comes before ready, and may take its time on a slow disk.
    readyTimeoutMs: 120_000,
    stopSignals: [
      { signal: 'SIGINT', waitMs: 10_000 },
      { signal: 'SIGQUIT', waitMs: 6_000 },
    ],
    log,
  });
}

/** The settings are modest: a laptop runs this beside everything else. */
function postgresSettings(major: number, fsync: boolean): Record<string, string> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    shared_buffers: '128MB',
    max_connections: '200',
    jit: 'off',
    max_logical_replication_workers: '0',
    log_checkpoints: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Three I/O worker processes less.
    ...(major >= 18 && { io_method: 'sync' }),
    ...(!fsync && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
}
