import { type Opening, openings } from './openings.js';

const nameEnd = /[\t\n\f\r />]|$/;
const attributeWithValue = /[\t\n\f\r /]+[^\t\n\f\r "'<>/=]+[\t\n\f\r ]*=/y;
const eventHandler = /[\s/"']on[a-z]+\s*=/i;

/**
 * The start of the removal in a text that is one tag without an end; undefined when its `<` is text. It is no tag yet (`a <b`), but would be
 * closed by what follows the text on a page. So it takes the rest when it begins like one that was meant (`<img src=`, `<script`) or when
 * an event handler follows.
 */
export function unclosedTagStart(text: string): number | undefined {
  const [first] = openings(text);
  if (first?.at === 0 && isMeant(text, first)) return 0;
  const afterSlash = text.slice('</'.length);
  return eventHandler.test(afterSlash.slice(afterSlash.search(nameEnd))) ? 0 : undefined;
}

/** The start of the removal in a text in which nothing ends a tag. */
export function unclosedMarkupStart(text: string): number | undefined {
  for (const found of openings(text)) if (isMeant(text, found)) return found.at;
  return undefined;
}

function isMeant(text: string, { end, takesContent }: Opening): boolean {
  attributeWithValue.lastIndex = end;
  return takesContent || attributeWithValue.test(text);
}
