import type { Log } from '@acsp/telemetry';

/** One user's hold on a shared resource; disposing it twice releases it once. */
export interface Shared<T> extends AsyncDisposable {
  readonly resource: T;
}

/** One resource for each URL in this process: its first user opens it, and it closes behind the last. */
export function shareByUrl<T extends AsyncDisposable>(open: (url: string, log: Log) => T) {
  const opened = new Map<string, { readonly resource: T; users: number }>();
  return (url: string, log: Log): Shared<T> => {
    const entry = opened.get(url) ?? { resource: open(url, log), users: 0 };
    opened.set(url, entry);
    entry.users += 1;
    let released = false;
    return {
      resource: entry.resource,
      async [Symbol.asyncDispose]() {
        if (released) return;
        released = true;
        entry.users -= 1;
        if (entry.users > 0) return;
        opened.delete(url);
        await entry.resource[Symbol.asyncDispose]();
      },
    };
  };
}
