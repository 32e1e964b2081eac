/** Short-lived keys, shared by the replicas of a service. Keys are at most 1 KiB; times to live are in seconds, fractions allowed. */
export interface Store extends AsyncDisposable {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Sets the key if it is absent; of several at once one gets `true`. */
  add(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  /** For readiness: rejects with SERVICE_UNAVAILABLE while the store can't do its work. */
  ready(): Promise<void>;
}
