import { services } from '@acsp/contracts/services';
import { serviceName } from '@acsp/operation';
import { secrets, settings } from '@acsp/service';
import { z } from 'zod';
import { parseTrust } from './client-address.js';
import { limitNames } from './limits.js';

/** Only an origin: requests that go on would lose a path, a query or credentials of this URL. */
const doorUrl = () =>
  z
    .url({ protocol: /^http$/ })
    .refine(
      (url) => /^http:\/\/[^/?#@\\]+\/?$/i.test(url),
      'it must be http:// with a host and perhaps a port, and no more',
    )
    .optional();

/** `TASKS_URL` and its like, one for each contract. */
export const doorUrlName = (service: string) => `${service.toUpperCase()}_URL` as const;
const doorUrls = Object.fromEntries(
  services.map((service) => [doorUrlName(serviceName(service)), doorUrl()]),
) as Readonly<Record<ReturnType<typeof doorUrlName>, ReturnType<typeof doorUrl>>>;

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
  HOST: settings.host.default('0.0.0.0'),
  PORT: settings.port(8080),
  /** Shared by all services; signs who a call is made for. `new,old`: both are accepted, the first signs. */
  PRINCIPAL_SECRET: secrets(32),
  /** The scheduler shows it on internal operations. `new,old`: both are accepted. Absent: nobody may call them. */
  INTERNAL_TOKEN: secrets(16).optional(),

  IDENTITY_GRPC: settings.grpcAddress,
  /** Public doors of the services. The operations of one that is absent answer 503. */
  ...doorUrls,
  /** How long a service may stay silent. */
  UPSTREAM_TIMEOUT_MS: z.coerce.number().int().min(100).max(50_000).default(30_000),

  /** Limits and spent signatures, shared by all gateways. */
  REDIS_URL: settings.redisUrl.optional(),
  /** The same in PostgreSQL, for a single gateway. One of the two must be set. */
  DATABASE_URL: settings.postgresUrl.optional(),
  /** Absent: credentials are looked up afresh every half second, since no event says when they end. */
  NATS_URL: settings.natsUrl.optional(),

  RATE_LIMIT_SCALE: z.coerce.number().positive().default(1),
  /** JSON: limit names and requests a minute, such as `{"tasks": 60}`. */
  RATE_LIMITS: json.pipe(z.partialRecord(z.enum(limitNames), z.int().min(1))).default({}),
  /** `none`, or the header that names the client: `x-real-ip`, `forwarded`, `x-forwarded-for:2` (the second from the right). */
  TRUST_PROXY: z
    .string()
    .default('none')
    .transform((text, context) => {
      const trust = parseTrust(text);
      if (trust === undefined) context.addIssue('must be none or a header, with a number after a colon');
      return trust ?? z.NEVER;
    }),
});

/** The type of the schema forgets the names that are made from the contracts. */
export type Config = z.output<typeof configSchema> & { readonly [name: `${string}_URL`]: string | undefined };
