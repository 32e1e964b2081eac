import type { Bus, Consumer, Payloads } from '@acsp/bus';
import type { Database, DatabaseOptions } from '@acsp/database';
import type { AnyOperations, Operations, Principals } from '@acsp/operation';
import type { Clock } from '@acsp/time';
import type { DescService } from '@bufbuild/protobuf';
import type { GenService, GenServiceMethods } from '@bufbuild/protobuf/codegenv2';
import { z } from 'zod';
import type { Health } from './create-health.js';
import type { Logger } from './create-logger.js';
import type { Departed, Departures } from './departures.js';
import type { Peer } from './peer.js';
import { secrets, settings } from './settings.js';

/** The environment that every service has; each README lists its own. */
export const common = {
  /** PostgreSQL, a database of the service's own. */
  DATABASE_URL: settings.postgresUrl,
  DATABASE_POOL: z.coerce.number().int().min(1).max(100).default(8),
  /** False leaves migrating to a job of the deployment: `node dist/main.js migrate`. */
  MIGRATE: settings.flag(true),
  NATS_URL: settings.natsUrl.optional(),
  /** Shared by all services; signs who a call is made for. */
  PRINCIPAL_SECRET: secrets(32),
  HOST: settings.host.default('0.0.0.0'),
  HTTP_PORT: settings.port(4100),
  GRPC_PORT: settings.port(5100),
};

export type CommonConfig = z.output<z.ZodObject<typeof common>>;

export type Config<Shape extends z.ZodRawShape> = CommonConfig & z.output<z.ZodObject<Shape>>;

/** The surroundings of the code of a service, which adds its own with `context`. */
export interface BaseContext<P, Shape extends z.ZodRawShape> {
  readonly config: Config<Shape>;
  readonly database: Database<P>;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly log: Logger;
  /** Is disposed of when the service stops, after the doors and the background work. */
  readonly use: <T extends AsyncDisposable>(resource: T) => T;
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

/** Work that goes on for as long as the service runs, in one replica at a time; after each end it begins again. Its signal aborts when its turn is over. */
export interface Duty {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface Background {
  readonly consumers?: readonly Consumer[];
  readonly duties?: readonly Duty[];
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
  /** Its generated `PrismaClient`. */
  readonly client: DatabaseOptions<P>['client'];
  readonly context: (base: BaseContext<P, Shape>) => Context;
  /** A row for every rpc. */
  readonly operations: Operations<Contract, Context>;
  readonly background?: (context: Context) => Background;
  /**
   * Clears away what a life of an agent left that ended: whatever has `since <= registered_at`, in pages. It is called when the deletion arrives, however
   * late, and again until no request that was in flight can leave anything more.
   */
  readonly onAgentDeleted?: (context: Context, departed: Departed) => Promise<void>;
}

/** Tests and the standalone put these in place of a service's own, and dispose of them themselves. */
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
  readonly departures: Departures;
  /** Ends event streams as a stop does, for one that begins with what stands in front of the service. */
  endStreams(): void;
  /** Resolves when the tables are there. */
  readonly migrated: Promise<void>;
}

export interface Service<Shape extends z.ZodRawShape = z.ZodRawShape, Context = unknown> {
  readonly name: string;
  readonly contract: DescService;
  readonly events: Payloads;
  readonly operations: AnyOperations;
  readonly migrations: URL;
  readonly config: z.ZodType<Config<Shape>>;
  /** Resolves as soon as it answers, even where PostgreSQL or the broker is still away: then with 503. */
  start(runtime: Runtime<Config<Shape>>, overrides?: Overrides): Promise<Running<Context>>;
  /** Applies the migrations and ends: for a job of the deployment. */
  migrate(runtime: Pick<Runtime<Config<Shape>>, 'config' | 'log'>): Promise<void>;
}
