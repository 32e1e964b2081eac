import { isElement } from './markup-elements.js';

/** A `<!--`, or a `<` with the name of an element that HTML, SVG or MathML define. */
export interface Opening {
  readonly at: number;
  /** The position behind the name. */
  readonly end: number;
  readonly takesContent: boolean;
}

/** A name ends before the next `<` here, so that a search reads each character once. No element has a `<` in its name. */
const opening = /<(?:!--|(\/?)([a-z][^\t\n\f\r /<>]*)(?=[\t\n\f\r />]|$))/gi;

export function* openings(text: string): Generator<Opening> {
  for (const { 0: all, 1: slash, 2: name, index: at } of text.matchAll(opening)) {
    if (name !== undefined && !isElement(name)) continue;
    yield { at, end: at + all.length, takesContent: name === undefined || (slash === '' && takesContent(name)) };
  }
}

export function startsWithOpening(text: string): boolean {
  const [first] = openings(text);
  return first?.at === 0;
}

/** True when the text behind the start tag is markup too, up to the end tag. */
export const takesContent = (name: string): boolean => /^(?:script|style)$/i.test(name);
