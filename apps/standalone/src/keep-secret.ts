import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const minLength = 32;

/** The secret that the services share, in a file of the data directory: what it has signed, such as the token of a stream, outlives a restart. */
export async function keepSecret(dataDir: string): Promise<string> {
  const directory = resolve(dataDir);
  const file = join(directory, 'principal.secret');
  // An editor ends the last line.
  const kept = (await readFile(file, 'utf8').catch(ignoreMissing)).trim();
  if (kept.length >= minLength) {
    await giveToOwner(file, directory);
    return kept;
  }
  const secret = randomBytes(minLength).toString('hex');
  await mkdir(directory, { recursive: true });
  // A process that ends in between leaves no half of it.
  await writeFile(`${file}.new`, secret, { mode: 0o600 });
  await giveToOwner(`${file}.new`, directory);
  await rename(`${file}.new`, file);
  return secret;
}

/** Root and the user of the directory take turns: what root leaves there has to be the user's. */
async function giveToOwner(file: string, directory: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  await chown(file, uid, gid);
}

function ignoreMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
