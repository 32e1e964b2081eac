import { AppError } from '@acsp/errors';
import type { Config } from '../config.js';
import type { Service } from '../route.js';
import { createProxy, type Upstream } from './proxy.js';

/** The services' public doors. */
export interface Upstreams extends Disposable {
  /** Throws SERVICE_UNAVAILABLE for a service that is not deployed. */
  of(service: Service): Upstream;
}

export function createUpstreams(config: Config): Upstreams {
  const urls: Readonly<Record<Service, string | undefined>> = {
    identity: config.IDENTITY_URL,
    search: config.SEARCH_URL,
    messaging: config.MESSAGING_URL,
    tasks: config.TASKS_URL,
    workspace: config.WORKSPACE_URL,
    events: config.EVENTS_URL,
    webhook: config.WEBHOOK_URL,
  };
  const proxies = new Map<string, Upstream>();
  for (const [service, url] of Object.entries(urls)) {
    if (url !== undefined) proxies.set(service, createProxy(url, config.UPSTREAM_TIMEOUT_MS));
  }
  return {
    of(service) {
      const proxy = proxies.get(service);
      if (proxy !== undefined) return proxy;
      throw new AppError('SERVICE_UNAVAILABLE', { detail: `The ${service} service is not deployed here` });
    },
    [Symbol.dispose]() {
      for (const proxy of proxies.values()) proxy[Symbol.dispose]();
    },
  };
}
