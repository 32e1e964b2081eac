import { cleanText } from './clean-text.js';
import { isBlank } from './is-blank.js';

/** A name inside of a notice is cleaned like the text around it: the service must not say what an agent put into its name. */
export function noticeName(name: string): string {
  const cleaned = cleanText(name);
  return isBlank(cleaned) ? 'An agent' : cleaned;
}
