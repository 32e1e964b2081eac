import { appendFile, fstatSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { within } from '@acsp/time';

/** The destination of log lines. Neither method throws, and none waits for a reader. */
export interface LogOutput {
  write(line: string): void;
  /** Resolves when what was written is out, or when the time is over. */
  flush(timeoutMs: number): Promise<void>;
}

const batchBytes = 4096;
const batchMs = 100;
/** Lines that come while so many characters wait are dropped, and counted. */
const maxWaiting = 2 ** 20;

/**
 * Standard output that cannot stop the process: on a full disk, behind a closed pipe or a reader that stands still lines are dropped, and the next
 * line that comes through says how many. Lines are written together while the event loop goes on: a write for each would be a tenth of a request.
 */
export function standardOutput(): LogOutput {
  const send = sender();
  let [waiting, dropped] = ['', 0];
  let inFlight: Promise<void> | undefined;

  function start(): void {
    if (inFlight !== undefined || waiting === '') return;
    const lines = waiting;
    waiting = '';
    inFlight = send(lines).then((written) => {
      inFlight = undefined;
      if (!written) drop(lines);
      else if (dropped > 0) report();
    });
  }

  function drop(lines: string): void {
    dropped += lines.split('\n').length - 1;
  }

  function report(): void {
    const fields = { level: 'warn', time: new Date().toISOString(), dropped, msg: 'log lines were lost' };
    waiting = `${JSON.stringify(fields)}\n${waiting}`;
    dropped = 0;
  }

  setInterval(start, batchMs).unref();
  process.on('exit', () => {
    try {
      writeSync(1, waiting);
    } catch {
      // The reader has gone, and the process is ending.
    }
  });
  return {
    write(line) {
      if (waiting.length + line.length > maxWaiting) return drop(line);
      waiting += line;
      if (waiting.length >= batchBytes) start();
    },
    async flush(timeoutMs) {
      const all = async () => {
        await inFlight;
        start();
        await inFlight;
      };
      await within(timeoutMs, 'the log', all()).catch(() => {});
    },
  };
}

/**
 * Writes and answers false where that failed. Pipes, sockets and terminals go through the event loop: a write in libuv's thread pool that blocks
 * keeps the process from ending. Files go through the pool, which a stream of Node would not: it gives up for good after the first error.
 */
function sender(): (text: string) => Promise<boolean> {
  process.stdout.on('error', () => {});
  const kind = fstatSync(1);
  const streams = kind.isFIFO() || kind.isSocket() || isatty(1);
  return (text) =>
    new Promise((resolve) => {
      const done = (error?: Error | null) => resolve(error == null);
      if (streams) process.stdout.write(text, done);
      else appendFile(1, text, done);
    });
}
