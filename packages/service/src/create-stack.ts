import type { Log } from '@acsp/telemetry';
import { within } from '@acsp/time';

export interface StackOptions {
  /** Each step that fails is logged as it fails. */
  readonly log?: Log;
  /** How long one step may take before the next one starts; 10 s by default. */
  readonly stepTimeoutMs?: number;
}

/** Resources in the order in which they were started, to be stopped in reverse. */
export interface Stack extends AsyncDisposable {
  /** Adds a resource and returns it, so that one expression can make and add it. */
  use<T extends AsyncDisposable | Disposable>(resource: T): T;
  defer(step: () => void | Promise<void>): void;
}

/**
 * A stack whose disposal runs every step, the latest first, even when some fail or run late; then it rejects with an AggregateError of what
 * failed. Disposing again does nothing.
 */
export function createStack({ log, stepTimeoutMs = 10_000 }: StackOptions = {}): Stack {
  const steps: (() => void | PromiseLike<void>)[] = [];
  return {
    use(resource) {
      steps.push(() =>
        Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : (resource as Disposable)[Symbol.dispose](),
      );
      return resource;
    },
    defer(step) {
      steps.push(step);
    },
    async [Symbol.asyncDispose]() {
      const failures: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        const running = step;
        try {
          await within(stepTimeoutMs, 'A step of the stop', (async () => running())());
        } catch (error) {
          log?.error({ err: error }, 'a step of the stop failed');
          failures.push(error);
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} steps of the stop failed`);
    },
  };
}

/**
 * Starts something that consists of several resources. `begin` puts each on the stack, and disposing the result disposes them all. When `begin`
 * rejects, this disposes those that it had started and rejects with the same error.
 */
export async function startOnStack<T extends object>(
  options: StackOptions,
  begin: (stack: Stack) => Promise<T>,
): Promise<T & AsyncDisposable> {
  const stack = createStack(options);
  const stop = async () => stack[Symbol.asyncDispose]();
  try {
    return { ...(await begin(stack)), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}
