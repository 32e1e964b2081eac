import { type Bus, jetStreamBus } from '@acsp/bus';
import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { createPrincipals, type Principals, type RpcClientOf, rpcClient } from '@acsp/rpc';
import { type Clock, createStack, type Logger, systemClock } from '@acsp/service';
import { createRateLimiter, createStore, type RateLimiter, type Store } from '@acsp/store';
import type { Config } from './config.js';

/** Everything that the gateway's code reaches for. */
export interface Context extends AsyncDisposable {
  readonly config: Config;
  readonly identity: RpcClientOf<typeof IdentityService>;
  /** Used signatures and idempotent answers. */
  readonly store: Store;
  readonly limiter: RateLimiter;
  /** Absent: nobody says when a credential ends. */
  readonly bus: Bus | undefined;
  readonly principals: Principals;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What tests and the standalone put in place of the gateway's own; they dispose of it themselves. */
export type Overrides = Partial<Pick<Context, 'store' | 'bus' | 'clock'>>;

export function createContext(config: Config, log: Logger, overrides: Overrides = {}): Context {
  const stack = createStack({ log });
  const principals = createPrincipals(config.PRINCIPAL_SECRET);
  const redisUrl = config.REDIS_URL;
  return {
    config,
    identity: stack.use(rpcClient(IdentityService, { address: config.IDENTITY_GRPC, principals, name: 'gateway' })),
    store: overrides.store ?? stack.use(createStore({ redisUrl, prefix: 'gateway:', log, onOutage: 'memory' })),
    limiter: stack.use(createRateLimiter({ redisUrl, log })),
    bus:
      overrides.bus ??
      (config.NATS_URL === undefined ? undefined : stack.use(jetStreamBus({ url: config.NATS_URL, log }))),
    principals,
    clock: overrides.clock ?? systemClock,
    log,
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
