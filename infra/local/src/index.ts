/** Servers on this machine without Docker: PostgreSQL from npm, NATS and Redis from the PATH or from .servers/. */
export { type EmbeddedPostgres, type PostgresOptions, startPostgres } from './embedded-postgres.js';
export { ensureDatabase } from './ensure-database.js';
export { freePort } from './free-port.js';
export { localServer, type ServerName } from './local-server.js';
export { LocalServerError } from './local-server-error.js';
export { type LocalServer, startNats, startRedis } from './servers.js';
export { spawnSource } from './spawn-source.js';
