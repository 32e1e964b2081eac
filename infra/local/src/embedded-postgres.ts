import { ensureDatabase } from './ensure-database.js';
import { stopOrphan } from './orphaned-postgres.js';
import { postgresBinaries } from './postgres-binaries.js';
import { openCluster, superuser } from './postgres-cluster.js';
import { startPostgresServer } from './postgres-server.js';
import { openServerHome } from './server-home.js';

export interface PostgresOptions {
  /** The directory is made when there is none. It belongs to the server alone. */
  dataDir: string;
  /** A TCP port of 127.0.0.1; 0, the default, takes a free one. */
  port?: number;
  /** False trades the data's safety in a power failure for speed: for tests. Default true. */
  fsync?: boolean;
  /** Receives the server's log, a line at a time. */
  log?: (line: string) => void;
  /** The directory of `initdb` and `postgres`; by default the ones from npm. */
  binDir?: string;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  pid: number;
  port: number;
  /** Settles when the server has ended, whether it was asked to or not. */
  exited: Promise<void>;
  /** A connection string with the superuser's password. */
  url(database: string): string;
  /** Makes the database unless it is there, and gives its connection string. */
  ensureDatabase(name: string): Promise<string>;
}

/**
 * Starts PostgreSQL on a data directory, on 127.0.0.1 only, with a random password. It ends with this process. A server left by a
 * killed owner is ended first. Throws LocalServerError: IN_USE by a live process, BROKEN, PORT_TAKEN, UNAVAILABLE.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, port: wantedPort = 0, fsync = true, log = () => {} } = options;
  const home = await openServerHome(dataDir);
  try {
    const binDir = options.binDir ?? (await postgresBinaries(home.user));
    const cluster = await openCluster(home, binDir, fsync);
    await stopOrphan(cluster.directory, log);
    const { server, port } = await startPostgresServer({
      cluster,
      binDir,
      user: home.user,
      port: wantedPort,
      fsync,
      log,
    });
    const login = `${superuser}:${cluster.password}@127.0.0.1:${port}`;
    const url = (database: string) => `postgresql://${login}/${encodeURIComponent(database)}`;
    return {
      pid: server.pid,
      port,
      exited: server.exited,
      url,
      ensureDatabase: (name) => ensureDatabase(url('postgres'), name),
      async [Symbol.asyncDispose]() {
        await server.stop();
        home.release();
      },
    };
  } catch (error) {
    home.release();
    throw error;
  }
}
