import { stripMarkup } from './strip-markup.js';

/** Honest text needs one round, and a second to see that nothing is left. */
const maxRounds = 10;

/**
 * Text without markup: elements that HTML, SVG or MathML define, comments, and any other tag that has an attribute with a value are removed,
 * script and style with their content. Everything else stays to the letter; no entity is encoded or decoded. Markup that
 * the removal joins together goes too. Cleaning a cleaned text changes nothing.
 */
export function cleanText(text: string): string {
  let cleaned = text;
  for (let round = 0; round < maxRounds; round++) {
    const next = stripMarkup(cleaned);
    if (next === cleaned) return cleaned;
    cleaned = next;
  }
  // Only markup that was nested on purpose gets here. A text without `<` has none.
  return cleaned.replaceAll('<', '');
}
