import { findMarkup } from './find-markup.js';

/** One round: every piece of markup taken out of the text as it stands. */
export function stripMarkup(text: string): string {
  let kept = '';
  let from = 0;
  for (const { start, end } of findMarkup(text)) {
    kept += text.slice(from, start);
    from = end;
  }
  return kept + text.slice(from);
}
