import { fileURLToPath } from 'node:url';
import {
  type Bus,
  type Consumer,
  jetStreamBus,
  outboxMigrations,
  type Payloads,
  startConsumer,
  startRelay,
} from '@acsp/bus';
import { type AnyPrismaClient, type Database, openDatabase } from '@acsp/database';
import {
  type AnyOperations,
  checkOperations,
  createPrincipals,
  type Operations,
  type Principals,
} from '@acsp/operation';
import { type Clock, every, systemClock } from '@acsp/time';
import type { DescService } from '@bufbuild/protobuf';
import type { GenService, GenServiceMethods } from '@bufbuild/protobuf/codegenv2';
import type { PrismaPg } from '@prisma/adapter-pg';
import { z } from 'zod';
import { serveContractDoor } from './contract-door.js';
import type { Health } from './create-health.js';
import type { Logger } from './create-logger.js';
import { createStack } from './create-stack.js';
import { ConfigError } from './load-config.js';
import { createPeer, type Peer } from './peer.js';
import { servePublicDoor } from './public-door.js';
import { secrets, settings } from './settings.js';

/** The environment that every service has; each README lists its own. */
const common = {
  /** PostgreSQL, a database of the service's own. */
  DATABASE_URL: z.string(),
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(10),
  /** False leaves migrating to a job of the deployment: `node dist/main.js migrate`. */
  MIGRATE: settings.flag(true),
  NATS_URL: z.string().optional(),
  /** Shared by all services; signs who a call is made for. */
  PRINCIPAL_SECRET: secrets(32),
  HOST: z.string().default('0.0.0.0'),
  HTTP_PORT: settings.port(4100),
  GRPC_PORT: settings.port(5100),
};

type Config<Shape extends z.ZodRawShape> = z.output<z.ZodObject<typeof common & Shape>>;

/** What the code of a service reaches for; a service adds its own with `context`. */
export interface BaseContext<P, Shape extends z.ZodRawShape> {
  readonly config: Config<Shape>;
  readonly database: Database<P>;
  readonly clock: Clock;
  readonly log: Logger;
  /** A client of another service, closed with this one. */
  readonly peer: <Methods extends GenServiceMethods>(
    service: GenService<Methods>,
    address: string,
  ) => Peer<GenService<Methods>>;
}

/** Work that runs again and again, by one replica at a time. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface Background {
  readonly consumers?: readonly Consumer[];
  readonly jobs?: readonly Job[];
}

/** All that is particular to a service. */
export interface Definition<Contract extends DescService, P, Shape extends z.ZodRawShape, Context> {
  readonly name: string;
  readonly contract: Contract;
  /** The payload message of each noun that it announces. */
  readonly events: Payloads;
  /** Its variables besides those of every service. */
  readonly config: Shape;
  readonly migrations: URL;
  /** Makes its generated client. */
  readonly client: (adapter: PrismaPg) => P;
  readonly context: (base: BaseContext<P, Shape>) => Context;
  /** A row for every rpc. */
  readonly operations: Operations<Contract, Context>;
  readonly background?: (context: Context) => Background;
}

/** What tests and the standalone put in place of a service's own; they dispose of it themselves. */
export interface Overrides {
  readonly bus?: Bus;
  readonly clock?: Clock;
}

export interface Runtime<C> {
  readonly config: C;
  readonly log: Logger;
  readonly health: Health;
}

export interface Running<Context> extends AsyncDisposable {
  readonly context: Context;
  /** The public door, such as `http://127.0.0.1:4103`. */
  readonly url: string;
  /** The contract door, `host:port`. */
  readonly address: string;
  readonly principals: Principals;
  /** Resolves when the tables are there. */
  readonly migrated: Promise<void>;
}

export interface Service<Shape extends z.ZodRawShape = z.ZodRawShape, Context = unknown> {
  readonly name: string;
  readonly contract: DescService;
  readonly operations: AnyOperations;
  readonly migrations: URL;
  readonly config: z.ZodObject<typeof common & Shape>;
  /** Resolves as soon as it answers, even where PostgreSQL or the broker is still away: then with 503. */
  start(runtime: Runtime<Config<Shape>>, overrides?: Overrides): Promise<Running<Context>>;
  /** Applies the migrations and ends: for a job of the deployment. */
  migrate(runtime: Pick<Runtime<Config<Shape>>, 'config' | 'log'>): Promise<void>;
}

const healthIntervalMs = 1_000;

export function defineService<
  Contract extends DescService,
  P extends AnyPrismaClient,
  Shape extends z.ZodRawShape,
  Context,
>(definition: Definition<Contract, P, Shape, Context>): Service<Shape, Context> {
  const { name, contract, migrations } = definition;
  const operations = definition.operations as unknown as AnyOperations;
  checkOperations(contract, operations);
  const open = ({ config, log }: Pick<Runtime<Config<Shape>>, 'config' | 'log'>, migrates: boolean) => {
    const { DATABASE_URL: url, DATABASE_POOL: poolSize } = config as z.output<z.ZodObject<typeof common>>;
    const own = { directory: fileURLToPath(migrations) };
    return openDatabase({
      url,
      name,
      poolSize,
      log,
      migrates,
      client: definition.client,
      migrations: [outboxMigrations, own],
    });
  };
  return {
    name,
    contract,
    operations,
    migrations,
    config: z.object({ ...common, ...definition.config }),
    start: (runtime, overrides = {}) =>
      start({ ...definition, operations }, open(runtime, (runtime.config as { MIGRATE: boolean }).MIGRATE), {
        runtime,
        overrides,
      }),
    async migrate(runtime) {
      await using database = open(runtime, true);
      await database.migrated;
    },
  };
}

interface Starting<Shape extends z.ZodRawShape> {
  readonly runtime: Runtime<Config<Shape>>;
  readonly overrides: Overrides;
}

async function start<P, Shape extends z.ZodRawShape, Context>(
  definition: Omit<Definition<DescService, P, Shape, Context>, 'operations'> & { readonly operations: AnyOperations },
  database: Database<P>,
  { runtime, overrides }: Starting<Shape>,
): Promise<Running<Context>> {
  const { name, contract, events, operations } = definition;
  const { log, health } = runtime;
  const config = runtime.config as z.output<z.ZodObject<typeof common>>;
  const stack = createStack({ log });
  stack.use(database);
  try {
    const bus = overrides.bus ?? stack.use(jetStreamBus({ url: natsUrl(config.NATS_URL), log }));
    const principals = createPrincipals(config.PRINCIPAL_SECRET);
    const context = definition.context({
      config: runtime.config,
      database,
      clock: overrides.clock ?? systemClock,
      log,
      peer: (service, address) => stack.use(createPeer(service, { address, principals, name })),
    });
    // Not the bus: while it is away nothing is refused, events wait in the outbox.
    health.check('database', () => database.ping());
    const relay = stack.use(startRelay({ database, bus, service: name, payloads: events, log }));
    database.onCommit(relay.wake);
    for (const work of startBackground(name, definition.background?.(context) ?? {}, { database, bus, log }))
      stack.use(work);

    const serving = {
      service: contract,
      operations,
      context,
      answers: database.answers,
      principals,
      host: config.HOST,
      log,
    };
    const contractDoor = stack.use(await serveContractDoor({ ...serving, port: config.GRPC_PORT }));
    const readiness = async () => contractDoor.setServing((await health.ready()).ready);
    stack.use(every({ name: 'gRPC health', intervalMs: healthIntervalMs, log }, readiness));
    const publicDoor = stack.use(await servePublicDoor({ ...serving, port: config.HTTP_PORT }));
    return {
      context,
      url: publicDoor.url,
      address: contractDoor.address,
      principals,
      migrated: database.migrated,
      [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
    };
  } catch (error) {
    await Promise.resolve(stack[Symbol.asyncDispose]()).catch(() => {});
    throw error;
  }
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
  { consumers = [], jobs = [] }: Background,
  { database, bus, log }: Surroundings,
) {
  return [
    ...consumers.map((consumer) => startConsumer(consumer, { database, bus, log })),
    ...jobs.map(({ name, everyMs, run }) =>
      every(
        { name, intervalMs: everyMs, log },
        async () => void (await database.session.once(`${service} ${name}`, run)),
      ),
    ),
  ];
}
