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
