import type { Log } from '@acsp/database';
import type pg from 'pg';

/** What the parts of an embedded bus share. */
export interface Context {
  readonly pool: pg.Pool;
  readonly migrated: Promise<void>;
  /** By which the buses of this process that share a database know each other. */
  readonly databaseUrl: string;
  readonly log: Log;
}

/** How often a bus looks for what was published by another process. */
export const pollMs = 1_000;
