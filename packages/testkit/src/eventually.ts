/** Repeats until it neither throws nor answers false, and gives the answer; after `timeoutMs` fails as the last try did. */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { timeoutMs = 5_000, intervalMs = 20 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<Exclude<T, false>> {
  for (const deadline = Date.now() + timeoutMs; ; ) {
    try {
      const result = await attempt();
      if (result !== false) return result as Exclude<T, false>;
      if (Date.now() >= deadline) throw new Error(`still false after ${timeoutMs} ms`);
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
