import type { TestAgent, World } from '../harness.js';

/** A request that an operation takes, with every field that it has, in a state where it succeeds. */
export interface Sample {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whose login key, internal token or signature goes with it. */
  readonly agent?: Partial<TestAgent>;
  /** Fields that name a thing which is there, whatever texts their schema takes. */
  readonly naming?: readonly string[];
  /** A request ends the one before it, so there is one at a time. */
  readonly alone?: boolean;
}

export interface Cast {
  readonly world: World;
  readonly ann: TestAgent;
  readonly bob: TestAgent;
}

export type Make = (cast: Cast) => Promise<Sample> | Sample;

export const uuid = '019a0000-0000-7000-8000-0000000000aa';
