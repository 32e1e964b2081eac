import { type Bus, jetStreamBus } from '@acsp/bus';
import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { createPrincipals, type Principals } from '@acsp/operation';
import { ConfigError, createPeer, createStack, type Logger, type Peer } from '@acsp/service';
import { createRateLimiter, createStore, type RateLimiter, type Store } from '@acsp/store';
import { type Clock, systemClock } from '@acsp/time';
import type { Config } from './config.js';
import { createRunning, type Running } from './running.js';

/** Everything that the gateway's code reaches for. */
export interface Context extends AsyncDisposable {
  readonly config: Config;
  readonly identity: Peer<typeof IdentityService>;
  /** Spent signatures. */
  readonly store: Store;
  readonly running: Running;
  readonly limiter: RateLimiter;
  /** Absent: no event says when a credential ends. */
  readonly bus: Bus | undefined;
  readonly principals: Principals;
  readonly clock: Clock;
  /** Milliseconds that are never set back, as the wall clock may be; those of the clock that a test puts in its place. */
  readonly elapsedMs: () => number;
  readonly log: Logger;
}

/** What tests and the standalone put in place of the gateway's own; they dispose of it themselves. */
export type Overrides = Partial<Pick<Context, 'store' | 'bus' | 'clock'>>;

/** Throws ConfigError where there is no place for spent signatures. */
export function createContext(config: Config, log: Logger, overrides: Overrides = {}): Context {
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, NATS_URL: natsUrl, UPSTREAM_TIMEOUT_MS: timeoutMs } = config;
  if (overrides.store === undefined && redisUrl === undefined && databaseUrl === undefined) {
    throw new ConfigError(['REDIS_URL is not set, and neither is DATABASE_URL in its place']);
  }
  const stack = createStack({ log });
  const principals = createPrincipals(config.PRINCIPAL_SECRET);
  const servers = { redisUrl, databaseUrl, log };
  const { clock } = overrides;
  return {
    config,
    identity: stack.use(createPeer(IdentityService, { address: config.IDENTITY_GRPC, principals, name: 'gateway' })),
    store: overrides.store ?? stack.use(createStore({ ...servers, prefix: 'gateway:', onOutage: 'memory' })),
    running: stack.use(createRunning({ redisUrl, timeoutMs, log })),
    limiter: stack.use(createRateLimiter(servers)),
    bus: overrides.bus ?? (natsUrl === undefined ? undefined : stack.use(jetStreamBus({ url: natsUrl, log }))),
    principals,
    clock: clock ?? systemClock,
    elapsedMs: clock === undefined ? () => performance.now() : () => clock.now().getTime(),
    log,
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
