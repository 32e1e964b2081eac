import { fileURLToPath } from 'node:url';
import { type Bus, jetStreamBus, outboxMigrations, startConsumer, startRelay } from '@acsp/bus';
import { type AnyPrismaClient, type Database, openDatabase } from '@acsp/database';
import { type AnyOperations, checkOperations, createPrincipals } from '@acsp/operation';
import { createReport, every, orAborted, systemClock } from '@acsp/time';
import type { DescService } from '@bufbuild/protobuf';
import { z } from 'zod';
import { serveContractDoor } from './contract-door.js';
import type { Health } from './create-health.js';
import type { Logger } from './create-logger.js';
import { type Stack, startOnStack } from './create-stack.js';
import {
  type Background,
  type CommonConfig,
  type Config,
  common,
  type Definition,
  type Overrides,
  type Running,
  type Runtime,
  type Service,
} from './definition.js';
import { createDepartures, type Departed } from './departures.js';
import { listenOn } from './listen-on.js';
import { ConfigError } from './load-config.js';
import { createPeer } from './peer.js';
import { servePublicDoor } from './public-door.js';
import type { Serving } from './serving.js';

const healthIntervalMs = 1_000;

export function defineService<
  Contract extends DescService,
  P extends AnyPrismaClient,
  Shape extends z.ZodRawShape,
  Context,
>(definition: Definition<Contract, P, Shape, Context>): Service<Shape, Context> {
  const { name, contract, events, client, migrations } = definition;
  const operations = definition.operations as unknown as AnyOperations;
  checkOperations(contract, operations);
  const own = { directory: fileURLToPath(migrations) };
  const open = ({ config, log }: Pick<Runtime<CommonConfig>, 'config' | 'log'>, migrates: boolean) =>
    openDatabase({
      name,
      log,
      client,
      migrates,
      url: config.DATABASE_URL,
      poolSize: config.DATABASE_POOL,
      migrations: [outboxMigrations, own],
    });
  return {
    name,
    contract,
    events,
    operations,
    migrations,
    config: z.object({ ...common, ...definition.config }) as z.ZodType<Config<Shape>>,
    start: (runtime, overrides = {}) =>
      start({ ...definition, operations }, open(runtime, runtime.config.MIGRATE), runtime, overrides),
    async migrate(runtime) {
      await using database = open(runtime, true);
      await database.migrated;
    },
  };
}

function start<P, Shape extends z.ZodRawShape, Context>(
  definition: Omit<Definition<DescService, P, Shape, Context>, 'operations'> & { readonly operations: AnyOperations },
  database: Database<P>,
  runtime: Runtime<Config<Shape>>,
  overrides: Overrides,
): Promise<Running<Context>> {
  const { name, contract, events, operations } = definition;
  const { log, health } = runtime;
  const config: CommonConfig = runtime.config;
  return startOnStack({ log }, async (stack) => {
    stack.use(database);
    const bus = overrides.bus ?? stack.use(jetStreamBus({ url: natsUrl(config.NATS_URL), log }));
    const onForeign = createReport('principals', log, 'a principal was refused');
    const principals = createPrincipals(config.PRINCIPAL_SECRET, { onForeign });
    const clock = overrides.clock ?? systemClock;
    const context = definition.context({
      config: runtime.config,
      database,
      clock,
      bus,
      log,
      use: (resource) => stack.use(resource),
      peer: (service, address) => stack.use(createPeer(service, { address, principals, name })),
    });
    // The bus has no check: while it is away no request is refused, because events wait in the outbox.
    health.check('database', () => database.ping());
    const relay = stack.use(startRelay({ database, bus, service: name, payloads: events, log }));
    database.onCommit(relay.wake);
    const { onAgentDeleted } = definition;
    const clearAway = async (life: Departed) => onAgentDeleted?.(context, life);
    const departures = createDepartures(name, { database, clock, clearAway });
    const background = [definition.background?.(context) ?? {}, onAgentDeleted ? departures.background : {}];
    for (const work of background.flatMap((each) => startBackground(name, each, { database, bus, log })))
      stack.use(work);

    const { answers, isMigrated } = database;
    const serving = { service: contract, operations, context, answers, isMigrated, principals, host: config.HOST, log };
    const doors = await openDoors(stack, serving, { config, health });
    return { ...doors, context, principals, departures, migrated: database.migrated };
  });
}

async function openDoors(stack: Stack, serving: Serving, { config, health }: Listening) {
  const contractDoor = stack.use(
    await listenOn('HOST', () => serveContractDoor({ ...serving, port: config.GRPC_PORT })),
  );
  const readiness = async () => contractDoor.setServing((await health.ready()).ready);
  stack.use(every({ name: 'gRPC health', intervalMs: healthIntervalMs, log: serving.log }, readiness));
  const publicDoor = stack.use(await listenOn('HOST', () => servePublicDoor({ ...serving, port: config.HTTP_PORT })));
  const { url, endStreams } = publicDoor;
  return { url, endStreams, address: contractDoor.address };
}

interface Listening {
  readonly config: CommonConfig;
  readonly health: Health;
}

/** A bus of a service's own would be silence: nobody else would hear its events. */
function natsUrl(url: string | undefined): string {
  if (url === undefined) throw new ConfigError(['NATS_URL is not set']);
  return url;
}

interface Surroundings {
  readonly database: Database<unknown>;
  readonly bus: Bus;
  readonly log: Logger;
}

function startBackground(
  service: string,
  { consumers = [], duties = [], jobs = [] }: Background,
  { database, bus, log }: Surroundings,
) {
  return [
    ...consumers.map((consumer) => startConsumer(consumer, { database, bus, log })),
    ...duties.map(({ name, run }) =>
      database.session.lead(`${service} ${name}`, async (_client, signal) => {
        await orAborted(database.migrated, signal);
        await run(signal);
      }),
    ),
    ...jobs.map(({ name, everyMs, run }) =>
      every(
        { name, intervalMs: everyMs, log },
        async () => void (await database.session.once(`${service} ${name}`, run)),
      ),
    ),
  ];
}
