/** Short-lived keys, shared by the replicas of a service. Keys are at most 1 KiB; times to live are in seconds, fractions allowed. */
export interface Store extends Schedules, AsyncDisposable {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Sets the key if it is absent; of several at once one gets `true`. */
  add(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  /** For readiness: rejects with SERVICE_UNAVAILABLE while the store can't do its work. */
  ready(): Promise<void>;
}

/**
 * Named schedules, whose members are due at a time on the clock of the server, the same for all replicas. A member stays until it is taken off.
 * Names and members together are at most 1 KiB. All three reject with SERVICE_UNAVAILABLE while the server is away, with `onOutage: 'memory'` too.
 */
export interface Schedules {
  /** Makes a member due so many seconds from now, fractions allowed, in place of the time at which it was due before. */
  schedule(name: string, member: string, dueInSeconds: number): Promise<void>;
  /** Members that are due, those that have been for longest first. */
  due(name: string, limit: number): Promise<string[]>;
  /** Takes members off if they are due, and answers which: one that was scheduled for later meanwhile stays, and of several callers one gets it. */
  unschedule(name: string, members: readonly string[]): Promise<string[]>;
}
