/** The subject of an event: `acsp.<service>.<noun>.<past verb>`. */
export const subjectOf = (service: string, type: string): string => `acsp.${service}.${type}`;

/** True when one of the patterns takes a subject, as NATS reads them: `*` is one token, `>` at the end is one or more. */
export function subjectMatcher(patterns: readonly string[]): (subject: string) => boolean {
  const parsed = patterns.map((pattern) => pattern.split('.'));
  return (subject) => {
    const tokens = subject.split('.');
    return parsed.some((pattern) => matches(pattern, tokens));
  };
}

function matches(pattern: readonly string[], tokens: readonly string[]): boolean {
  const open = pattern.at(-1) === '>';
  if (open ? tokens.length < pattern.length : tokens.length !== pattern.length) return false;
  return pattern.every((part, index) => part === '*' || part === '>' || part === tokens[index]);
}

/** The narrowest single pattern that takes whatever one of the patterns takes. */
export function coveringPattern(patterns: readonly string[]): string {
  const parsed = patterns.map((pattern) => pattern.split('.'));
  const [first = ['>']] = parsed;
  const shortest = Math.min(...parsed.map((pattern) => pattern.length));
  const covering: string[] = [];
  for (const [index, token] of first.slice(0, shortest).entries()) {
    const others = parsed.map((pattern) => pattern[index]);
    if (others.includes('>')) return [...covering, '>'].join('.');
    covering.push(others.every((other) => other === token) ? token : '*');
  }
  // A longer pattern wants more tokens than the shortest one: `>` stands for the last of those as well.
  if (parsed.some((pattern) => pattern.length > shortest)) covering.splice(-1, 1, '>');
  return covering.join('.');
}
