/** What is known of some keys. */
export type LookUp<Value> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

interface Question<Value> {
  readonly keys: Set<string>;
  readonly answer: ReturnType<LookUp<Value>>;
}

/** While a look-up is in flight, further keys gather for the next one, up to `maxKeys`: one key costs a part of a call to a peer, not a call. */
export function gatherKeys<Value>(maxKeys: number, lookUp: LookUp<Value>): LookUp<Value> {
  let last: Promise<unknown> = Promise.resolve();
  let gathering: Question<Value> | undefined;

  function gather(): Question<Value> {
    const keys = new Set<string>();
    const answer = last.then(() => {
      if (gathering?.keys === keys) gathering = undefined;
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
