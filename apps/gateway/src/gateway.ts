import type { Context } from './context.js';
import type { Keys } from './keys/keys.js';
import type { Limits } from './limits.js';
import type { Upstreams } from './upstream/upstreams.js';

/** The context and what the gateway makes of it at its start. */
export interface Gateway extends Context {
  readonly limits: Limits;
  readonly keys: Keys;
  readonly upstreams: Upstreams;
}
