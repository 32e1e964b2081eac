import type { Measured } from '../cpu.js';
import type { Servers } from '../servers.js';

/** One of the two that are compared: the service, or the baseline beside it. */
export interface Side extends AsyncDisposable {
  readonly name: 'acsp' | 'baseline';
  /** The door that agents use. */
  readonly url: string;
  /** Every process that works for a request. */
  readonly servers: readonly Measured[];
}

export interface Environment {
  readonly servers: Servers;
  /** The processes write their output here. */
  readonly logDir: string;
}
