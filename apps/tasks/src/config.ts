import { z } from 'zod';

const port = (standard: number) => z.coerce.number().int().min(0).max(65_535).default(standard);

/** The environment of the tasks service; README.md lists it for operators. */
export const configSchema = z.object({
  DATABASE_URL: z.string(),
  /** Absent: events stay in the service's own database. */
  NATS_URL: z.string().optional(),
  IDENTITY_GRPC: z.string(),
  /** Absent: claims have no match_score. */
  SEARCH_GRPC: z.string().optional(),
  /** How long a claim waits for its match_score. */
  MATCH_TIMEOUT_MS: z.coerce.number().int().min(1).max(5_000).default(300),
  /** Shared by all services; signs who a call is made for. */
  PRINCIPAL_SECRET: z.string().min(32),
  HOST: z.string().default('0.0.0.0'),
  HTTP_PORT: port(4103),
  GRPC_PORT: port(5103),
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
});

export type Config = z.infer<typeof configSchema>;
