import { cleanText } from './clean-text.js';
import { isBlank } from './is-blank.js';

/** A tag that the text behind the name could complete. */
const opening = /<+(?=[a-z/!?])/gi;

/** A name inside of a notice is cleaned like the text around it: the service must not say what an agent put into its name. */
export function noticeName(name: string): string {
  const cleaned = cleanText(name).replace(opening, '');
  return isBlank(cleaned) ? 'An agent' : cleaned;
}
