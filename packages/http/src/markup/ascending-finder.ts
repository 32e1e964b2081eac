/** The first match at or behind a position, or the length of the text. Positions must be asked in ascending order. */
export type Find = (from: number) => number;

export interface Finders {
  finder(pattern: string, flags?: string): Find;
  /** Characters searched so far. */
  work(): number;
}

/** Searches that remember where they stopped, so that however often one is asked, it reads the text once. */
export function createFinders(text: string): Finders {
  let work = 0;
  return {
    finder(pattern, flags = 'g') {
      const expression = new RegExp(pattern, flags);
      let found = -1;
      return (from) => {
        if (found >= from) return found;
        expression.lastIndex = from;
        found = expression.exec(text)?.index ?? text.length;
        work += found - from;
        return found;
      };
    },
    work: () => work,
  };
}
