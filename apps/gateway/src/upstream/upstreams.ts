import { services } from '@acsp/contracts/services';
import { AppError } from '@acsp/errors';
import { type Route, serviceName } from '@acsp/operation';
import { createStack } from '@acsp/service';
import { type Config, doorUrlName } from '../config.js';
import { createProxy, type Upstream } from './proxy.js';

/** The services' public doors. */
export interface Upstreams extends AsyncDisposable {
  /** Throws SERVICE_UNAVAILABLE for a service that is not deployed. */
  of(route: Pick<Route, 'service' | 'desc'>): Upstream;
}

/** Event streams have a sign of life every 15 s (decisions, 6.3), whatever the patience with other answers. */
const streamTimeoutMs = 60_000;

export function createUpstreams(config: Config): Upstreams {
  const stack = createStack();
  const open = (timeoutMs: number) => {
    const proxies = new Map<string, Upstream>();
    for (const service of services.map(serviceName)) {
      const url = config[doorUrlName(service)];
      if (url !== undefined) proxies.set(service, stack.use(createProxy(url, timeoutMs)));
    }
    return proxies;
  };
  const answers = open(config.UPSTREAM_TIMEOUT_MS);
  const streams = open(streamTimeoutMs);
  return {
    of({ service, desc }) {
      const proxy = (desc.methodKind === 'server_streaming' ? streams : answers).get(service);
      if (proxy !== undefined) return proxy;
      throw new AppError('SERVICE_UNAVAILABLE', { detail: `The ${service} service is not deployed here` });
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
