import { readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLine, isRunning } from '../process-lock.mjs';
import { LocalServerError } from './local-server-error.js';

/**
 * Ends the server that a killed owner left in a cluster. PostgreSQL does not start beside an empty or garbled postmaster.pid, and its own test for a stale one is fooled by a pid that
 * has been given to another process of the same user, so a pid that is no server of this cluster loses its file here.
 * Call it only while holding the home. Throws IN_USE where somebody runs a server of their own on the cluster: without its file it would end within a minute.
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
  if (pid > 0 && (await isForeignServerOf(pid, cluster))) {
    const message = `The data directory ${cluster} is in use by a PostgreSQL that was started by hand (process ${pid}): stop it first.`;
    throw new LocalServerError('IN_USE', message);
  }
  await rm(file, { force: true });
}

/** True for a live PostgreSQL that works in this directory, as each does, and was not started by us. Systems without /proc do not tell. */
async function isForeignServerOf(pid: number, cluster: string): Promise<boolean> {
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return directory === cluster && !isServerOf(pid, cluster) && commandLine(pid)?.includes('postgres') === true;
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
