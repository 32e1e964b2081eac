import { settings } from '@acsp/service';
import { z } from 'zod';

/** The environment of `npm start`; README.md of the project lists it. Variables of the gateway and the services are handed on to them. */
export const configSchema = z.looseObject({
  PORT: settings.port(8080),
  HOST: settings.host.default('127.0.0.1'),
  DATA_DIR: z.string().default('.data'),
  /** The URL under which agents reach the service; `http://HOST:PORT` when absent. */
  PUBLIC_URL: settings.publicUrl.optional(),
  /** Opens the internal operations; a random one when absent. */
  INTERNAL_TOKEN: z.string().min(16).optional(),
  /** Shared by the services; one that is kept in DATA_DIR when absent. Replicas need the same. */
  PRINCIPAL_SECRET: z.string().optional(),
  /** A PostgreSQL server to use in place of the embedded one: databases are made on it. */
  DATABASE_URL: settings.postgresUrl.optional(),
  /** Goes before the names of the databases on that server, so that several deployments can share it. */
  DATABASE_PREFIX: z
    .string()
    .regex(/^[a-z0-9_]{0,40}$/)
    .default(''),
  /** A JetStream server to use in place of the embedded bus. */
  NATS_URL: settings.natsUrl.optional(),
  /** A Redis server to use in place of tables. */
  REDIS_URL: settings.redisUrl.optional(),
});

export type Config = z.infer<typeof configSchema>;
