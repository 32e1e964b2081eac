import { isElement } from './markup-elements.js';
import { createTagScanner, type TagScanner } from './tag-scanner.js';

export interface Stripped {
  readonly text: string;
  /** Characters that were looked at, so that a test can hold the effort to a multiple of the length. */
  readonly work: number;
}

/** One round: every piece of markup taken out of the text as it stands. */
export function stripMarkup(text: string): Stripped {
  let at = text.indexOf('<');
  if (at < 0) return { text, work: text.length };
  const scanner = createTagScanner(text);
  let kept = '';
  let from = 0;
  while (at >= 0) {
    const end = markupEnd(text, at, scanner);
    if (end !== undefined) {
      kept += text.slice(from, at);
      from = end;
    }
    at = text.indexOf('<', end ?? at + 1);
  }
  return { text: kept + text.slice(from), work: text.length + scanner.work() };
}

/** Where the markup that begins at a `<` ends; undefined when that `<` is text. */
function markupEnd(text: string, at: number, scanner: TagScanner): number | undefined {
  if (text.startsWith('<!--', at)) return scanner.commentEnd(at);
  const closing = text[at + 1] === '/';
  const nameStart = at + (closing ? 2 : 1);
  if (!isLetter(text.charCodeAt(nameStart))) return undefined;
  const nameEnd = scanner.nameEnd(nameStart);
  const name = scanner.name(nameStart, nameEnd);
  const known = name !== undefined && isElement(name);
  if (known && !closing && /^(?:script|style)$/i.test(name)) return scanner.contentEnd(name, nameEnd);
  if (!known && !mayCarryAttributes(name, nameEnd, scanner)) return undefined;

  return scanner.tagEnd(nameEnd) ?? (isDangerousUnclosed(known, nameEnd, scanner) ? text.length : undefined);
}

/**
 * A name that no author gives an element, as in `Map<String, Integer>` or `<https://acsp.dev>`, is a tag to the parser all the same. It
 * can do no harm, and stays, unless an attribute has a value.
 */
function mayCarryAttributes(name: string | undefined, nameEnd: number, scanner: TagScanner): boolean {
  if (!scanner.hasAttributes(nameEnd)) return false;
  return name !== undefined || scanner.hasValue(nameEnd);
}

/**
 * A tag that the text does not close is no tag yet (`a <b`), but would be closed by what follows the text on a page. It takes the rest
 * when it begins like one that was meant (`<img src=`) or can run script.
 */
function isDangerousUnclosed(known: boolean, nameEnd: number, scanner: TagScanner): boolean {
  return (known && scanner.beginsWithValue(nameEnd)) || scanner.hasHandlerAfter(nameEnd);
}

const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
