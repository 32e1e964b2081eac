/** Where attributes end, by the attribute states of HTML's tokenizer (13.2.5.32 to 13.2.5.40). */
export interface AttributeScanner {
  /** Behind the `>` that ends the tag; undefined when the text ends before. `from` is where the tag's name ends. */
  end(from: number): number | undefined;
  /** Characters looked at so far. */
  work(): number;
}

const state = { beforeName: 1, name: 2, afterName: 4, beforeValue: 8, value: 16 } as const;
const quote = 32;

/**
 * Each character is visited at most once in each state: a second visit must end as the first did, and the first did not end, or its tag
 * would have been taken out.
 */
export function createAttributeScanner(text: string): AttributeScanner {
  let visited: Uint8Array | undefined;
  let work = 0;

  return {
    end(from) {
      visited ??= new Uint8Array(text.length);
      let now: number = state.beforeName;
      for (let at = from; at < text.length; at++) {
        work++;
        const before = visited[at] as number;
        if ((before & now) !== 0) return undefined;
        visited[at] = before | now;
        const char = text.charAt(at);
        if (char === '>') return at + 1;
        now = next(now, char);
        if (now !== quote) continue;
        const close = text.indexOf(char, at + 1);
        work += (close < 0 ? text.length : close) - at;
        if (close < 0) return undefined;
        at = close;
        now = state.beforeName;
      }
      return undefined;
    },
    work: () => work,
  };
}

function next(now: number, char: string): number {
  const space = char === ' ' || char === '\n' || char === '\t' || char === '\r' || char === '\f';
  switch (now) {
    case state.beforeValue:
      if (space) return now;
      return char === '"' || char === "'" ? quote : state.value;
    case state.value:
      return space ? state.beforeName : now;
    case state.beforeName:
      return space || char === '/' ? now : state.name;
    default:
      if (char === '/') return state.beforeName;
      if (char === '=') return state.beforeValue;
      return space ? state.afterName : state.name;
  }
}
