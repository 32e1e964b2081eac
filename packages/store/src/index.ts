/** Short-lived keys and rate limits, in Redis or in PostgreSQL. */
export type { Bucket } from './bucket.js';
export { createStore } from './create-store.js';
export { memoryStore } from './memory-store.js';
export { type Consumed, createRateLimiter, type RateLimiter } from './rate-limiter.js';
export type { Store } from './store.js';
