import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { ServerUser } from './server-user.js';

export interface ChildServerOptions {
  command: string;
  args: string[];
  cwd: string;
  user?: ServerUser;
  /** The line of its output that says that it serves. */
  ready: RegExp;
  readyTimeoutMs?: number;
  /** The signals that ask it to stop, each with the time it gets to work. SIGKILL follows. */
  stopSignals: { signal: NodeJS.Signals; waitMs: number }[];
  log?: (line: string) => void;
}

export interface ChildServer {
  pid: number;
  exited: Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** A server did not come up; `output` is what it printed. */
export class ChildServerFailure extends Error {
  readonly output: string[];

  constructor(command: string, how: string, output: string[]) {
    super(`${command} ${how}: ${output.at(-1) ?? 'it said nothing'}`);
    this.output = output;
  }
}

/** Starts a server of this machine, waits until it is ready, and sees to it that it ends when this process ends, however that happens. */
export async function startChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // The server has a session of its own: Ctrl-C in the terminal reaches only this process, and the server outlives the drain.
    detached: true,
    ...options.user,
  });
  const exited = once(child, 'exit').then(
    () => undefined,
    () => undefined,
  );
  const watchdog = child.pid ? guard(child.pid, options.stopSignals[0]?.signal ?? 'SIGTERM') : undefined;
  exited.then(() => watchdog?.kill('SIGKILL'));
  await whenReady(child, options);
  for (const handle of [child, child.stdout, child.stderr]) (handle as ChildProcess).unref();
  const signal = async (name: NodeJS.Signals, waitMs: number) => {
    child.ref();
    if (child.exitCode === null && child.signalCode === null) child.kill(name);
    return settlesWithin(exited, waitMs);
  };
  const kill = async () => void (await signal('SIGKILL', 10_000));
  const stop = async () => {
    for (const step of options.stopSignals) if (await signal(step.signal, step.waitMs)) return;
    await kill();
  };
  return { pid: child.pid as number, exited, stop, kill };
}

function whenReady(child: ChildProcess, { command, ready, readyTimeoutMs = 30_000, log }: ChildServerOptions) {
  return new Promise<void>((resolve, reject) => {
    const output: string[] = [];
    const fail = (how: string) => reject(new ChildServerFailure(command, how, output));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`was not ready after ${readyTimeoutMs} ms`);
    }, readyTimeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      output.push(error.message);
      fail('could not be run');
    });
    // 'close' comes after 'exit', when all of its output has been read.
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      fail(`ended with ${signal ?? code}`);
    });
    for (const stream of [child.stdout, child.stderr] as Readable[]) {
      createInterface({ input: stream }).on('line', (line) => {
        if (output.push(line) > 50) output.shift();
        log?.(line);
        if (!ready.test(line)) return;
        clearTimeout(timer);
        resolve();
      });
    }
  });
}

/** A shell that waits for our end of a pipe to close: the system closes it even when we are killed with SIGKILL. */
function guard(pid: number, signal: NodeJS.Signals): ChildProcess {
  const script = `read -r _; kill -s ${signal.slice(3)} ${pid}`;
  const watchdog = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
  watchdog.on('error', () => {});
  watchdog.stdin?.on('error', () => {});
  watchdog.unref();
  (watchdog.stdin as unknown as { unref(): void } | null)?.unref();
  return watchdog;
}

async function settlesWithin(promise: Promise<void>, waitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, waitMs, false);
  });
  const settled = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return settled;
}
