/** Short-lived keys and rate limits, in Redis or in memory. */
export type { Log } from './connect-redis.js';
export { createStore, type StoreOptions } from './create-store.js';
export type { MemoryLimits } from './memory-keys.js';
export { memoryStore } from './memory-store.js';
export {
  type Bucket,
  type Consumed,
  createRateLimiter,
  type RateLimiter,
  type RateLimiterOptions,
} from './rate-limiter.js';
export type { Store } from './store.js';
