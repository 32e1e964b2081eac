/** Background work that may be disposed one by one or all at once. */
export interface Disposables extends AsyncDisposable {
  add(work: AsyncDisposable): AsyncDisposable;
}

export function createDisposables(): Disposables {
  const running = new Set<AsyncDisposable>();
  return {
    add(work) {
      running.add(work);
      return {
        async [Symbol.asyncDispose]() {
          if (running.delete(work)) await work[Symbol.asyncDispose]();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      const works = [...running];
      running.clear();
      await Promise.all(works.map((work) => work[Symbol.asyncDispose]()));
    },
  };
}
