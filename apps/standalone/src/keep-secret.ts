import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const minLength = 32;

/** The secret that the services share, in a file of the data directory: what it has signed, such as the token of a stream, outlives a restart. */
export async function keepSecret(dataDir: string): Promise<string> {
  const file = join(resolve(dataDir), 'principal.secret');
  // An editor ends the last line.
  const kept = (await readFile(file, 'utf8').catch(ignoreMissing)).trim();
  if (kept.length >= minLength) return kept;
  const secret = randomBytes(minLength).toString('hex');
  await mkdir(resolve(dataDir), { recursive: true });
  // A process that ends in between leaves no half of it.
  await writeFile(`${file}.new`, secret, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return secret;
}

function ignoreMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
