/** PostgreSQL's `text` has no NUL character, which Redis has: it is written as `\0`, and a backslash as two. */
export const toText = (value: string): string => value.toWellFormed().replaceAll('\\', '\\\\').replaceAll('\0', '\\0');

export const fromText = (text: string): string =>
  text.includes('\\') ? text.replace(/\\(.)/g, (_, escaped: string) => (escaped === '0' ? '\0' : escaped)) : text;
