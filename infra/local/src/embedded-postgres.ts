import pg from 'pg';
import { stopOrphan } from './orphaned-postgres.js';
import { postgresBinaries } from './postgres-binaries.js';
import { openCluster, superuser } from './postgres-cluster.js';
import { startPostgresServer } from './postgres-server.js';
import { openServerHome } from './server-home.js';

export interface PostgresOptions {
  /** Made when there is none. Belongs to the server: nothing else goes in it. */
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
  ensureDatabase(name: string): Promise<void>;
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

async function ensureDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    // Somebody else made it between the question and the command.
    if ((error as { code?: string }).code !== '42P04') throw error;
  } finally {
    await client.end();
  }
}
