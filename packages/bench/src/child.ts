import { type ChildProcess, fork, type Serializable, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** The next message that it sends; rejects when it ends before. */
  receive(): Promise<unknown>;
  send(message: Serializable): void;
}

export interface ChildOptions {
  readonly name: string;
  /** A JavaScript file, run with this Node. */
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its output goes to `<name>.log` in here. */
  readonly logDir: string;
}

const stopMs = 10_000;

/** The options that the apps' own `start` scripts give them; the baseline and the worker get them too. */
const nodeOptions = ['--max-semi-space-size=64'];

/** A Node process of the run. It is stopped by SIGTERM at the end, and by a guard when the run itself is killed. */
export function startChild({ name, script, env, logDir }: ChildOptions): Child {
  const logFile = join(logDir, `${name}.log`);
  const log = openSync(logFile, 'a');
  const child = fork(script, [], {
    execArgv: nodeOptions,
    env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production', ...env },
    stdio: ['ignore', log, log, 'ipc'],
    // A session of its own: Ctrl-C is for the run to handle, which stops its children in order.
    detached: true,
  });
  closeSync(log);
  const exited = once(child, 'exit');
  const failed = exited.then(([code, signal]) => {
    throw new Error(`${name} ended with ${signal ?? code}:\n${tail(logFile)}`);
  });
  failed.catch(() => {});
  const guard = watch(child);
  return {
    pid: child.pid ?? 0,
    receive: async () => (await Promise.race([once(child, 'message'), failed]))[0],
    send: (message) => child.send(message),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), stopMs);
      await exited;
      clearTimeout(late);
      guard.kill();
    },
  };
}

/** A shell that waits for our end of a pipe to close, which the system sees to however we end. */
function watch({ pid }: ChildProcess): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', `read -r _; kill -9 ${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  return guard;
}

const tail = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
