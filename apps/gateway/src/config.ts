import { z } from 'zod';
import { parseTrust } from './client-address.js';
import { limitNames } from './limits.js';

const doorUrl = () => z.url({ protocol: /^http$/ }).optional();

const json = z.string().transform((text, context) => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    context.addIssue('must be JSON');
    return z.NEVER;
  }
});

/** The environment of the gateway; README.md lists it for operators. */
export const configSchema = z.object({
  HOST: z.string().default('0.0.0.0'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  /** Shared by all services; signs who a call is made for. */
  PRINCIPAL_SECRET: z.string().min(32),
  /** What the scheduler shows on internal operations. Absent: nobody may call them. */
  INTERNAL_TOKEN: z.string().min(16).optional(),

  IDENTITY_GRPC: z.string(),
  /** Public doors of the services. The operations of one that is absent answer 503. */
  IDENTITY_URL: doorUrl(),
  SEARCH_URL: doorUrl(),
  MESSAGING_URL: doorUrl(),
  TASKS_URL: doorUrl(),
  WORKSPACE_URL: doorUrl(),
  EVENTS_URL: doorUrl(),
  WEBHOOK_URL: doorUrl(),
  /** How long a service may stay silent. */
  UPSTREAM_TIMEOUT_MS: z.coerce.number().int().min(100).max(50_000).default(30_000),

  /** Absent: limits, replays and idempotent answers are known to this process alone. */
  REDIS_URL: z.string().optional(),
  /** Absent: credentials are looked up afresh every half second, since no event says when they end. */
  NATS_URL: z.string().optional(),

  RATE_LIMIT_SCALE: z.coerce.number().positive().default(1),
  /** JSON: limit names and requests a minute, such as `{"tasks": 60}`. */
  RATE_LIMITS: json.pipe(z.partialRecord(z.enum(limitNames), z.int().min(1))).default({}),
  /** `none`, or the header that names the client, such as `x-real-ip` or `x-forwarded-for:2` (the second from the right). */
  TRUST_PROXY: z
    .string()
    .default('none')
    .transform((text, context) => {
      const trust = parseTrust(text);
      if (trust === undefined) context.addIssue('must be none or a header, with a number after a colon');
      return trust ?? z.NEVER;
    }),
});

export type Config = z.output<typeof configSchema>;
