/** The subject of an event: `acsp.<service>.<noun>.<past verb>`. */
export const subjectOf = (service: string, type: string): string => `acsp.${service}.${type}`;

/** Whether one of the patterns takes a subject, as NATS reads them: `*` is one token, `>` at the end is one or more. */
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
