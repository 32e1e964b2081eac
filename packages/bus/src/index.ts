/** Domain events between services: published from the outbox by a relay, carried by JetStream or by PostgreSQL, handled by durable consumers. */
export type { Bus, Consumer, Watcher } from './bus.js';
export { type BusOptions, createBus } from './create-bus.js';
export { type EmbeddedBusOptions, embeddedBus } from './embedded/embedded-bus.js';
export { type JetStreamBusOptions, jetStreamBus } from './jet-stream/jet-stream-bus.js';
export { type Relay, type RelayOptions, startRelay } from './relay.js';
export type { Payloads } from './to-event.js';
