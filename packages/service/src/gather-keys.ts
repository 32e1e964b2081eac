import { AppError } from '@acsp/errors';

/** Answers the values of those keys that have one. */
export type LookUp<Value> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

interface Question<Value> {
  readonly keys: Set<string>;
  readonly answer: ReturnType<LookUp<Value>>;
}

/** As long as a call to a peer may take. */
const maxWaitMs = 5_000;

/**
 * While a look-up is in flight, further keys gather for the next one, up to `maxKeys`: one key costs a part of a call to a peer, not a call. Keys
 * that have gathered for too long are not looked up but rejected with SERVICE_UNAVAILABLE: behind a peer that hangs each would wait for the
 * time-outs of all before it.
 */
export function gatherKeys<Value>(
  maxKeys: number,
  lookUp: LookUp<Value>,
  nowMs: () => number = () => performance.now(),
): LookUp<Value> {
  let last: Promise<unknown> = Promise.resolve();
  let gathering: Question<Value> | undefined;

  function gather(): Question<Value> {
    const keys = new Set<string>();
    const since = nowMs();
    const answer = last.then(() => {
      if (gathering?.keys === keys) gathering = undefined;
      if (nowMs() - since > maxWaitMs) throw new AppError('SERVICE_UNAVAILABLE');
      return lookUp([...keys]);
    });
    last = answer.catch(() => {});
    return { keys, answer };
  }

  return (keys) => {
    if (gathering === undefined || gathering.keys.size + keys.length > maxKeys) gathering = gather();
    for (const key of keys) gathering.keys.add(key);
    return gathering.answer;
  };
}
