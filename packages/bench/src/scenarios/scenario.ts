import type { Journey } from '../driver.js';
import type { Side } from '../sides/side.js';

/** An agent of the service, as quickstart made it. */
export interface Account {
  readonly aid: string;
  readonly loginKey: string;
}

/** The rows of a side's database before the load starts. The baseline knows no agents; it gets the same credentials and ignores them. */
export interface Fixtures {
  readonly accounts: readonly Account[];
  readonly taskIds: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** The share of the baseline's requests/s that the service should reach. */
  readonly aim: number;
  /** Work of the driver's own that must not fall into the measured time; `requests` is how many the next load may send. */
  prepare?(requests: number): void;
  journey(side: Side['name'], fixtures: Fixtures): (connection: number) => Journey;
}

/** The nth of a list that is gone through again and again. */
export function nth<T>(list: readonly T[], n: number): T {
  const item = list[n % list.length];
  if (item === undefined) throw new Error('an empty list');
  return item;
}
