import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLine, isRunning } from '../process-lock.mjs';

/**
 * Ends the server that a killed owner left in a cluster. PostgreSQL does not start beside an empty or garbled postmaster.pid, and its own test for a stale one is fooled by a pid that
 * has been given to another process of the same user, so a pid that is no server of this cluster loses its file here.
 * Call it only while holding the home.
 */
export async function stopOrphan(cluster: string, log: (line: string) => void): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  if (pid > 0 && isServerOf(pid, cluster)) {
    log(`stopping the PostgreSQL that a killed process left behind (pid ${pid})`);
    // Fast shutdown, then immediate shutdown, which makes the server end its own children, then the end.
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      if (await endsAfter(pid, signal, cluster)) break;
    }
  }
  await rm(file, { force: true });
}

function isServerOf(pid: number, cluster: string): boolean {
  return isRunning(pid) && commandLine(pid)?.includes(`-D ${cluster}`) === true;
}

async function endsAfter(pid: number, signal: NodeJS.Signals, cluster: string): Promise<boolean> {
  try {
    process.kill(pid, signal);
  } catch {
    return true;
  }
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; ) {
    if (!isServerOf(pid, cluster)) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
