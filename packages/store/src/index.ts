/** Short-lived keys and rate limits, in Redis or in PostgreSQL. */
export type { Bucket } from './bucket.js';
export { createStore, type StoreOptions } from './create-store.js';
export { memoryStore } from './memory-store.js';
export { type Consumed, createRateLimiter, type RateLimiter, type RateLimiterOptions } from './rate-limiter.js';
export type { Store } from './store.js';
