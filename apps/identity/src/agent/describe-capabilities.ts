const maxLength = 500;

/** A description for an agent that came without one: a sentence that names as many of its capabilities as fit. */
export function describeCapabilities(capabilities: readonly string[]): string {
  for (let named = capabilities.length; ; named -= 1) {
    const sentence = sentenceOf(capabilities.slice(0, named), capabilities.length - named);
    if (sentence.length <= maxLength || named === 1) return sentence;
  }
}

function sentenceOf(named: readonly string[], others: number): string {
  const parts = others === 0 ? [...named] : [...named, `${others} more`];
  const last = parts.pop();
  return parts.length === 0 ? `An agent that offers ${last}.` : `An agent that offers ${parts.join(', ')} and ${last}.`;
}
