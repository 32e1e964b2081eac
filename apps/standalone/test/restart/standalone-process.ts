import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { spawnSource } from '@acsp/testkit';

export interface StandaloneProcess {
  readonly url: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Resolves with the exit code, however it ends. */
  readonly exited: Promise<number | null>;
  /** Both outputs, a line each. */
  readonly said: readonly string[];
}

/** The process that `npm start` runs, on embedded infrastructure in a directory of its own. Resolves at its ready line. */
export async function startProcess(dataDir: string, port = 0): Promise<StandaloneProcess> {
  const env = { ...process.env, PORT: `${port}`, DATA_DIR: dataDir, RATE_LIMIT_SCALE: '10000', LOG_LEVEL: 'error' };
  const main = new URL('../../src/main.ts', import.meta.url);
  const child = spawnSource(main, [], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
        said.push(line);
        const ready = /^acsp ready on (http:\/\/\S+)$/.exec(line)?.[1];
        if (ready !== undefined) resolve(ready);
      });
    }
    child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${said.join('\n')}`)));
  });
  const exited = once(child, 'close').then(() => child.exitCode);
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return { url, kill: async () => void (await end('SIGKILL')), stop: () => end('SIGTERM'), exited, said };
}
