/** Domain events between services: announced in the outbox, published by a relay, carried by JetStream or PostgreSQL, handled by consumers. */
export type { Bus } from './bus.js';
export { type Consumer, startConsumer } from './consumer.js';
export { embeddedBus } from './embedded/embedded-bus.js';
export {
  claimEvent,
  defineEvents,
  type EventRow,
  type Events,
  eventColumns,
  insertEvents,
  type Payloads,
  payloadOf,
} from './events.js';
export type { Bounds, Feed, FeedMessage, NewMessage } from './feed.js';
export { jetStreamBus } from './jet-stream/jet-stream-bus.js';
export { natsServers } from './jet-stream/link.js';
export { outboxMigrations } from './outbox.js';
export { startRelay } from './relay.js';
