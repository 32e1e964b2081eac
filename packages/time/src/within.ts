/** Work took longer than its limit. The code is errno(3)'s, by which callers answer SERVICE_UNAVAILABLE. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  readonly code = 'ETIMEDOUT';

  constructor(what: string, limitMs: number) {
    super(`${what} took longer than ${limitMs} ms`);
  }
}

/** The outcome of `work`, or a DeadlineError that names it once `limitMs` have passed. The work itself goes on: a promise cannot be stopped. */
export async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(what, limitMs)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
