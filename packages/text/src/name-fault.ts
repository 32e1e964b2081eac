const lineBreak = /[\n\v\f\r\u0085\u2028\u2029]/;
const control = /\p{Cc}/u;
/** Embeddings, overrides and isolates reorder what stands around the name on a page (CVE-2021-42574, "Trojan Source"). */
const bidirectional = /[\u202a-\u202e\u2066-\u2069]/;

/** The fault of a name, in words that follow the field's name; undefined when it has none. Names are shown on one line, inside other texts. */
export function nameFault(name: string): string | undefined {
  if (lineBreak.test(name)) return 'must not contain line breaks';
  if (control.test(name)) return 'must not contain control characters';
  return bidirectional.test(name) ? 'must not contain bidirectional overrides' : undefined;
}
