import { fileURLToPath } from 'node:url';
import { freePort } from '@acsp/local';
import { type Child, startChild } from './child.js';

export interface AppProcess extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  /** Health and metrics. */
  readonly opsUrl: string;
  /** The next message to its parent; an app sends none by itself. */
  receive(): Promise<unknown>;
}

const readyMs = 30_000;

/** Runs `apps/<name>` as it is built and waits until it says that it is ready. */
export async function startApp(
  name: string,
  env: Readonly<Record<string, string>>,
  logDir: string,
): Promise<AppProcess> {
  const opsPort = String(await freePort());
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const script = fileURLToPath(new URL(`../../../apps/${name}/dist/main.js`, import.meta.url));
  const child = startChild({
    name,
    script,
    logDir,
    env: { HOST: '127.0.0.1', ...env, OPS_PORT: opsPort, OPS_HOST: '127.0.0.1' },
  });
  try {
    await Promise.race([untilReady(name, `${opsUrl}/readyz`), ended(child)]);
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
  return {
    name,
    opsUrl,
    pid: child.pid,
    receive: child.receive,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** An app sends no message: this settles only when it has ended. */
const ended = (child: Child) => child.receive();

async function untilReady(name: string, url: string): Promise<void> {
  for (const deadline = Date.now() + readyMs; ; ) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    if (Date.now() > deadline) throw new Error(`${name} is not ready after ${readyMs} ms: ${await answer?.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
