import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { chmod, chown, lstat, mkdir, realpath, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { claimWhenFree } from '../process-lock.mjs';
import { LocalServerError } from './local-server-error.js';
import { privateHome } from './postgres-binaries.js';
import { canReach, type ServerUser, serverUser } from './server-user.js';

/** A server's directory: owned by the user it runs as, closed to everybody else, and claimed by this process until `release`. */
export interface ServerHome {
  path: string;
  user: ServerUser | undefined;
  release(): void;
}

/** Makes the directory when there is none. Throws LocalServerError when a live process has it, or when it can't be used by us. */
export async function openServerHome(directory: string): Promise<ServerHome> {
  const asked = resolve(directory);
  const user = await serverUser(asked);
  try {
    if (!(await exists(asked))) await create(asked, user);
    const path = await realpath(asked);
    // A file of somebody's must not change hands before it turns out to be none of ours.
    if (!(await stat(path)).isDirectory()) throw new Error('it is a file');
    if (user && !(await canReach(user, dirname(path)))) throw new Error(`user ${user.uid} can't reach it`);
    if (user) await chown(path, user.uid, user.gid);
    else if ((await stat(path)).uid !== process.getuid?.()) throw new Error('it belongs to another user');
    await chmod(path, 0o700);
    accessSync(path, constants.W_OK);
    const release = await claimHome(path, asked);
    if (user) await chown(join(path, 'owners'), user.uid, user.gid);
    return { path, user, release };
  } catch (cause) {
    if (cause instanceof LocalServerError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'EACCES' || code === 'EPERM' ? 'it belongs to another user' : message;
    throw new LocalServerError('UNAVAILABLE', `The data directory ${asked} can't be used: ${why}.`, { cause });
  }
}

async function exists(path: string): Promise<boolean> {
  if (await stat(path).catch(() => undefined)) return true;
  // A link whose target has gone is as good as nothing, but stands in the way.
  if (await lstat(path).catch(() => undefined)) await rm(path);
  return false;
}

async function create(path: string, user: ServerUser | undefined): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (!user || (await canReach(user, await realpath(dirname(path)))))
    return void (await mkdir(path, { recursive: true }));
  const elsewhere = join(await privateHome(), `data-${randomBytes(6).toString('hex')}`);
  await mkdir(elsewhere, { mode: 0o700 });
  await symlink(elsewhere, path).catch(() => rm(elsewhere, { recursive: true }));
}

async function claimHome(path: string, asked: string): Promise<() => void> {
  // Two that start at the same moment step back from each other: one of them gets it a little later.
  const { release, holder } = await claimWhenFree(join(path, 'owners'), { timeoutMs: 500 });
  if (release) return release;
  const message = `The data directory ${asked} is in use by process ${holder}: stop it first, or choose another DATA_DIR.`;
  throw new LocalServerError('IN_USE', message);
}
