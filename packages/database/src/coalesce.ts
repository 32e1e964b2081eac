/** Runs a read once for all callers that wait for it under the same key. */
export type Coalesce<Value> = (key: string, run: () => Promise<Value>) => Promise<Value>;

/**
 * Answers each caller with a run that has begun no earlier than the call, so that a reader sees what was committed before it asked: while a run
 * of the key is in flight, all who come share the next one.
 */
export function createCoalesce<Value>(): Coalesce<Value> {
  const inFlight = new Map<string, Promise<Value>>();
  const waiting = new Map<string, Promise<Value>>();

  function start(key: string, run: () => Promise<Value>): Promise<Value> {
    const value = run().finally(() => inFlight.delete(key));
    inFlight.set(key, value);
    return value;
  }

  return (key, run) => {
    const current = inFlight.get(key);
    if (current === undefined) return start(key, run);
    const shared = waiting.get(key);
    if (shared !== undefined) return shared;
    const next = current.then(ignore, ignore).then(() => {
      waiting.delete(key);
      return start(key, run);
    });
    waiting.set(key, next);
    return next;
  };
}

const ignore = () => {};
