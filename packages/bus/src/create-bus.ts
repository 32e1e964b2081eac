import type { Log } from '@acsp/telemetry';
import type { Bus } from './bus.js';
import { embeddedBus } from './embedded/embedded-bus.js';
import { jetStreamBus } from './jet-stream/jet-stream-bus.js';

export interface BusOptions {
  /** `nats://user:password@host:4222`, several with commas. Without it the bus lives in PostgreSQL. */
  readonly natsUrl?: string;
  /** The database of the embedded bus, the same for every service. */
  readonly databaseUrl: string;
  readonly log: Log;
}

/** The bus that the configuration asks for. Returns at once, whether its server is up or not. */
export function createBus({ natsUrl, databaseUrl, log }: BusOptions): Bus {
  return natsUrl === undefined ? embeddedBus({ databaseUrl, log }) : jetStreamBus({ url: natsUrl, log });
}
