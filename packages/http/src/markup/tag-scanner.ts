import { createFinders } from './ascending-finder.js';
import { createAttributeScanner } from './attribute-scanner.js';

/**
 * Finds where markup ends in one text. Positions must be asked in ascending order: each search goes on where it stopped, so that all
 * answers together take time in proportion to the text, however it is made.
 */
export interface TagScanner {
  /** Behind the comment that begins at `at`; the end of the text when nothing closes it. */
  commentEnd(at: number): number;
  nameEnd(nameStart: number): number;
  /** The name, or undefined when it has a character that element names do not have. */
  name(nameStart: number, nameEnd: number): string | undefined;
  hasAttributes(nameEnd: number): boolean;
  /** Whether an equals sign comes before the next `>`. */
  hasValue(nameEnd: number): boolean;
  /** Behind the `>` that ends the tag, which is none inside a quoted value; undefined when the text ends inside the tag. */
  tagEnd(nameEnd: number): number | undefined;
  /** Behind the end tag of the script or style whose own tag has this `nameEnd`; the end of the text when there is none. */
  contentEnd(name: string, nameEnd: number): number;
  /** Whether the first attribute has a value. */
  beginsWithValue(nameEnd: number): boolean;
  /** Whether anything like an event handler (` onclick=`) follows. */
  hasHandlerAfter(nameEnd: number): boolean;
  /** Characters looked at so far. */
  work(): number;
}

const space = '\\t\\n\\f\\r ';

export function createTagScanner(text: string): TagScanner {
  const { finder, work } = createFinders(text);
  const attributes = createAttributeScanner(text);
  const nextOpen = finder('<');
  const nextClose = finder('>');
  const nextEquals = finder('=');
  const nextNameEnd = finder(`[${space}/>]`);
  const nextAttribute = finder(`[^${space}/]`);
  const nextCommentEnd = finder('-->');
  const nextBangCommentEnd = finder('--!>');
  const nextContentEnd = {
    script: finder(`</script(?=[${space}/>])`, 'gi'),
    style: finder(`</style(?=[${space}/>])`, 'gi'),
  };
  const firstValue = new RegExp(`[${space}/]+[^${space}"'<>/=]+[${space}]*=`, 'y');
  let lastHandler: number | undefined;

  function tagEnd(nameEnd: number): number | undefined {
    if (text[nameEnd] === '>') return nameEnd + 1;
    return nextClose(nameEnd) === text.length ? undefined : attributes.end(nameEnd);
  }

  return {
    commentEnd(at) {
      // `<!-->` and `<!--->` are whole comments (HTML 13.2.5.43), so the dashes of the beginning may serve the end.
      return Math.min(nextCommentEnd(at + 2) + 3, nextBangCommentEnd(at + 4) + 4, text.length);
    },
    nameEnd: nextNameEnd,
    name(nameStart, nameEnd) {
      // Names that reach over the next `<` would be copied once for each; no element has one.
      if (nextOpen(nameStart) < nameEnd) return undefined;
      const name = text.slice(nameStart, nameEnd);
      return /^[\w.-]+$/.test(name) ? name : undefined;
    },
    hasAttributes: (nameEnd) => nextAttribute(nameEnd) < text.length && text[nextAttribute(nameEnd)] !== '>',
    hasValue: (nameEnd) => nextEquals(nameEnd) < nextClose(nameEnd),
    tagEnd,
    contentEnd(name, nameEnd) {
      const start = tagEnd(nameEnd);
      if (start === undefined) return text.length;
      const find = nextContentEnd[name.toLowerCase() as keyof typeof nextContentEnd];
      const endTag = find(start);
      return endTag === text.length ? text.length : (tagEnd(endTag + '</'.length + name.length) ?? text.length);
    },
    beginsWithValue(nameEnd) {
      firstValue.lastIndex = nameEnd;
      return firstValue.test(text);
    },
    hasHandlerAfter(nameEnd) {
      lastHandler ??= [...text.matchAll(/[\s/"']on[a-z]+\s*=/gi)].at(-1)?.index ?? -1;
      return lastHandler >= nameEnd;
    },
    work: () => work() + attributes.work(),
  };
}
