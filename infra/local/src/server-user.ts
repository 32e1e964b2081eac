import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The user that a server runs as, when it is not the one of this process. */
export interface ServerUser {
  uid: number;
  gid: number;
}

const nobody: ServerUser = { uid: 65534, gid: 65534 };

/** PostgreSQL refuses to run as root. A directory that already has an owner keeps it, so that root and an ordinary user can take turns. */
export async function serverUser(directory: string): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(directory).catch(() => nobody);
  return uid === 0 ? nobody : { uid, gid };
}

/** True when the user can walk from the root into this directory, or run this program: the same bit says both. */
export async function canReach(user: ServerUser, path: string): Promise<boolean> {
  const { mode, uid, gid } = await stat(path);
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  if (((mode >> shift) & 1) === 0) return false;
  const parent = dirname(path);
  return parent === path || canReach(user, parent);
}
