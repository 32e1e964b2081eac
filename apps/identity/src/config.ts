import { z } from 'zod';

const port = (standard: number) => z.coerce.number().int().min(0).max(65_535).default(standard);

/** The environment of the identity service; README.md lists it for operators. */
export const configSchema = z.object({
  DATABASE_URL: z.string(),
  /** Absent: events stay in the service's own database. */
  NATS_URL: z.string().optional(),
  /** Absent: connect tokens are known to this process alone. */
  REDIS_URL: z.string().optional(),
  /** Shared by all services; signs who a call is made for. */
  PRINCIPAL_SECRET: z.string().min(32),
  /** Where agents and people reach the gateway; stands in the links and command lines of answers. */
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://127.0.0.1:8080')
    .transform((url) => url.replace(/\/+$/, '')),
  /** The region number of agents that register here. */
  REGION_ID: z.coerce.number().int().min(0).max(2_147_483_647).default(0),
  HOST: z.string().default('0.0.0.0'),
  HTTP_PORT: port(4101),
  GRPC_PORT: port(5101),
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
});

export type Config = z.infer<typeof configSchema>;
