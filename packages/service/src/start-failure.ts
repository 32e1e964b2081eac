export interface StartFailure {
  readonly sentence: string;
  /** True when the sentence says it all. Otherwise the fault is in the code, and a stack is wanted. */
  readonly known: boolean;
}

interface Known extends Error {
  readonly code?: unknown;
  readonly port?: unknown;
}

/** Errors of ours that name the surroundings: wrong settings, and a data directory that is in use or broken. */
const ours = new Set(['ConfigError', 'LocalServerError', 'MigrationError']);

/** Why a start failed, as one sentence for the person who started it. Errors with a code and ours of known classes need no stack. */
export function describeFailure(error: unknown): StartFailure {
  if (!(error instanceof Error)) return { sentence: sentenceOf(String(error)), known: false };
  const { name, code, port } = error as Known;
  if (code === 'EADDRINUSE') return { sentence: `port ${port} is in use by another process.`, known: true };
  if (code === 'EACCES' && port !== undefined) return { sentence: `port ${port} needs more rights.`, known: true };
  // Node's own ERR_ codes say that it was called in a wrong way: those are bugs.
  const known = ours.has(name) || (typeof code === 'string' && !code.startsWith('ERR_'));
  // An AggregateError of a connection attempt has a code and no message.
  return { sentence: sentenceOf(error.message || (typeof code === 'string' ? code : name)), known };
}

function sentenceOf(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
