import { randomBytes } from 'node:crypto';
import { embeddedBus, jetStreamBus } from '@acsp/bus';
import { configSchema as gatewayConfig } from '@acsp/gateway/config';
import { start as startGateway } from '@acsp/gateway/server';
import { urlOf } from '@acsp/http';
import { freePort } from '@acsp/local';
import { ConfigError, loadConfig, type Running, type Runtime, type Service, startOnStack } from '@acsp/service';
import type { Config } from './config.js';
import { openDatabases } from './databases.js';
import { keepSecret } from './keep-secret.js';
import { services } from './services.js';
import { untilReady } from './until-ready.js';

export interface Standalone extends AsyncDisposable {
  /** The URL of the API, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The services by their names. */
  readonly services: Readonly<Record<string, Running<unknown>>>;
  /** Resolves with the reason when it can serve no longer. */
  readonly failed?: Promise<Error>;
}

/** Every app in this process, joined over loopback as they are between machines. Ready when it resolves. */
export function startStandalone({ config, log, health }: Runtime<Config>): Promise<Standalone> {
  return startOnStack({ log }, async (stack) => {
    const port = config.PORT === 0 ? await freePort() : config.PORT;
    const databases = stack.use(await openDatabases(config, log));
    const bus = stack.use(
      config.NATS_URL === undefined
        ? embeddedBus({ databaseUrl: await databases.open('bus'), log })
        : jetStreamBus({ url: config.NATS_URL, log }),
    );
    const contractPorts = new Map<string, number>();
    for (const { name } of services) contractPorts.set(name, await freePort());
    const common = {
      PRINCIPAL_SECRET: config.PRINCIPAL_SECRET ?? (await keepSecret(config.DATA_DIR)),
      ...inherited(config),
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      PUBLIC_URL: config.PUBLIC_URL ?? linksTo(config.HOST, port),
      ...addresses(contractPorts),
    };

    const start = async (service: Service) => {
      const env = {
        ...common,
        DATABASE_URL: await databases.open(service.name),
        GRPC_PORT: `${contractPorts.get(service.name)}`,
      };
      const runtime = { config: loadConfig(service.config, env), log: log.child({ name: service.name }), health };
      return [service.name, stack.use(await service.start(runtime, { bus }))] as const;
    };
    const running = Object.fromEntries(await Promise.all(services.map(start)));
    await Promise.all([...Object.values(running).map(({ migrated }) => migrated), untilReady(bus)]);

    const gatewayEnv = {
      ...common,
      ...Object.fromEntries(Object.entries(running).map(([name, { url }]) => [`${name.toUpperCase()}_URL`, url])),
      HOST: config.HOST,
      PORT: `${port}`,
      DATABASE_URL: await databases.open('gateway'),
      INTERNAL_TOKEN: config.INTERNAL_TOKEN ?? randomBytes(32).toString('hex'),
    };
    const gatewayLog = log.child({ name: 'gateway' });
    const gateway = stack.use(await startGateway(loadConfig(gatewayConfig, gatewayEnv), gatewayLog, { bus }));
    // Otherwise the gateway would wait for streams that nobody has told to end.
    stack.defer(() => {
      for (const { endStreams } of Object.values(running)) endStreams();
    });
    return { url: gateway.url, services: running, failed: databases.failed };
  });
}

/** The base of links where the operator names none. */
function linksTo(host: string, port: number): string {
  const url = urlOf(host, port);
  if (URL.canParse(url)) return url;
  throw new ConfigError(['PUBLIC_URL is not set, and no link can lead to HOST, an address with a zone']);
}

/** The variables that the operator set besides the standalone's own: TRUST_PROXY, RATE_LIMITS, REGION_ID and their like. */
function inherited(config: Config): Record<string, string> {
  const texts = Object.entries(config).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

const addresses = (ports: ReadonlyMap<string, number>) =>
  Object.fromEntries([...ports].map(([name, port]) => [`${name.toUpperCase()}_GRPC`, `127.0.0.1:${port}`]));
