import { type Bus, jetStreamBus } from '@acsp/bus';
import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { createOpenStreams, type OpenStreams } from '@acsp/http';
import { createPrincipals, type Principals } from '@acsp/operation';
import { ConfigError, createPeer, type Logger, type Stack } from '@acsp/service';
import { createRateLimiter, createStore, type RateLimiter, type Store } from '@acsp/store';
import { type Clock, systemClock } from '@acsp/time';
import type { Config } from './config.js';
import { createKeys, type Keys } from './keys/keys.js';
import { watchKeys } from './keys/watch-keys.js';
import { createLimits, type Limits } from './limits.js';
import { createLookups, type Lookups } from './lookups.js';
import { createRunning, type Running } from './running.js';
import { createUpstreams, type Upstreams } from './upstream/upstreams.js';

/** Everything that the gateway's code reaches for. */
export interface Context {
  readonly config: Config;
  readonly keys: Keys;
  readonly upstreams: Upstreams;
  readonly limits: Limits;
  readonly limiter: RateLimiter;
  readonly lookups: Lookups;
  /** Event streams that pass through. */
  readonly streams: OpenStreams;
  /** Spent signatures. */
  readonly store: Store;
  readonly running: Running;
  readonly principals: Principals;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tests and the standalone put these in place of the gateway's own, and dispose of them themselves. */
export type Overrides = Partial<Pick<Context, 'store' | 'clock'> & { readonly bus: Bus }>;

interface Surroundings {
  readonly config: Config;
  readonly log: Logger;
  readonly overrides: Overrides;
}

/** Puts everything that has to be closed on the stack. Throws ConfigError where there is no place for spent signatures. */
export function createContext(stack: Stack, { config, log, overrides }: Surroundings): Context {
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, NATS_URL: natsUrl, UPSTREAM_TIMEOUT_MS: timeoutMs } = config;
  if (overrides.store === undefined && redisUrl === undefined && databaseUrl === undefined) {
    throw new ConfigError(['REDIS_URL is not set, and neither is DATABASE_URL in its place']);
  }
  const principals = createPrincipals(config.PRINCIPAL_SECRET);
  const servers = { redisUrl, databaseUrl, log };
  const clock = overrides.clock ?? systemClock;
  // The wall clock may be set back.
  const elapsedMs = clock === systemClock ? () => performance.now() : () => clock.now().getTime();
  const identity = stack.use(
    createPeer(IdentityService, { address: config.IDENTITY_GRPC, principals, name: 'gateway' }),
  );
  const keys = createKeys({ identity, clock, elapsedMs });
  const bus = overrides.bus ?? (natsUrl === undefined ? undefined : stack.use(jetStreamBus({ url: natsUrl, log })));
  if (bus !== undefined) stack.use(watchKeys(bus, keys));
  return {
    config,
    keys,
    upstreams: stack.use(createUpstreams(config)),
    limits: createLimits(config.RATE_LIMIT_SCALE, config.RATE_LIMITS),
    limiter: stack.use(createRateLimiter(servers)),
    lookups: createLookups(),
    streams: createOpenStreams(),
    store: overrides.store ?? stack.use(createStore({ ...servers, prefix: 'gateway:', onOutage: 'memory' })),
    running: stack.use(createRunning({ redisUrl, timeoutMs, log })),
    principals,
    clock,
    log,
  };
}
