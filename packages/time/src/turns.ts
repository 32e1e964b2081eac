/** Runs one function after the other, in the order of the calls. One that fails does not hold up those behind it. */
export type Turns = <T>(run: () => Promise<T>) => Promise<T>;

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const mine = last.then(run);
    last = mine.catch(() => {});
    return mine;
  };
}

/** Resolves when every earlier turn of the key has ended; answers how to end this one. `turns` holds the keys that have one. */
export async function takeTurn(turns: Map<string, Promise<void>>, key: string): Promise<() => void> {
  const before = turns.get(key);
  let end = () => {};
  const turn = new Promise<void>((resolve) => {
    end = resolve;
  });
  turns.set(key, turn);
  await before;
  return () => {
    if (turns.get(key) === turn) turns.delete(key);
    end();
  };
}
