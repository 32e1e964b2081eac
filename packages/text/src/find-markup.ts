import { startsWithOpening } from './openings.js';
import { type Range, readTags } from './read-tags.js';
import { unclosedMarkupStart, unclosedTagStart } from './unclosed-tag.js';

/** A `<` with which neither a tag nor a comment begins: `a < b`, `</>`, `<?php`, `<!DOCTYPE`. */
const plainLessThan = /<(?!\/?[a-z]|!--)/gi;

/**
 * The ranges of markup in a text, in ascending order. The tokenizer reads a copy of the same length, in which `_` stands for what it must
 * not take for markup. It starts again only at markup inside of a tag that stays, which is then removed, and once for a tag without an end.
 * So it reads no character more than four times, and the time is linear in the length of the text.
 */
export function findMarkup(text: string): readonly Range[] {
  const found: Range[] = [];
  if (!text.includes('<')) return found;
  let source = text.replace(plainLessThan, '_');
  let quotesHide = true;
  let at = source.indexOf('<');
  while (at >= 0) {
    const { markupAt, unclosedAt } = readTags(source, at, found);
    if (markupAt !== undefined) {
      at = markupAt;
    } else if (unclosedAt === undefined) {
      break;
    } else {
      const rest = text.slice(unclosedAt);
      const start = unclosedTagStart(rest) ?? (quotesHide ? undefined : unclosedMarkupStart(rest));
      if (start !== undefined) found.push({ start: unclosedAt + start, end: text.length });
      if (start !== undefined || !quotesHide) break;
      // A quote that nothing closes hides every `>` after it. Without quotes, each `>` ends a tag; only the one that opened the quote stays
      // text, unless it is an element.
      quotesHide = false;
      source = source.slice(0, unclosedAt) + source.slice(unclosedAt).replace(/["']/g, '_');
      at = startsWithOpening(rest) ? unclosedAt : source.indexOf('<', unclosedAt + 1);
    }
  }
  return found;
}
