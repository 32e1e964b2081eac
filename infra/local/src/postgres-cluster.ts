import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LocalServerError } from './local-server-error.js';
import type { ServerHome } from './server-home.js';

const run = promisify(execFile);

export const superuser = 'acsp';

export interface PostgresCluster {
  directory: string;
  major: number;
  password: string;
}

/** The database cluster in a home: checked when there is one, else made. `durable` forces the new files to the disk. */
export async function openCluster(home: ServerHome, binDir: string, durable: boolean): Promise<PostgresCluster> {
  const directory = join(home.path, 'cluster');
  const major = await majorVersion(binDir);
  await removeDrafts(home);
  if (existsSync(directory)) await check(directory, major);
  else await create(home, binDir, durable, directory);
  return { directory, major, password: await readFile(passwordFile(directory), 'utf8') };
}

const passwordFile = (cluster: string) => join(cluster, 'acsp.password');

async function majorVersion(binDir: string): Promise<number> {
  const { stdout } = await run(join(binDir, 'postgres'), ['--version']).catch((cause) => {
    const message = `The PostgreSQL in ${binDir} does not run on this system: set DATABASE_URL to a PostgreSQL of your own.`;
    throw new LocalServerError('UNAVAILABLE', message, { cause });
  });
  return Number(/\d+/.exec(stdout)?.[0]);
}

async function check(directory: string, major: number): Promise<void> {
  const broken = (why: string) => new LocalServerError('BROKEN', `The data directory ${directory} ${why}`);
  for (const file of ['PG_VERSION', 'global/pg_control', 'acsp.password', 'postgresql.conf', 'pg_wal', 'base']) {
    if (!existsSync(join(directory, file))) {
      throw broken(`is damaged (${file} is missing): restore it from a backup, or delete it to start empty.`);
    }
  }
  const version = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
  if (version !== String(major)) {
    throw broken(
      `was made by PostgreSQL ${version} and this is PostgreSQL ${major}: choose another DATA_DIR, or delete it to start empty.`,
    );
  }
}

/** A cluster appears under its name only when it is complete: what a kill leaves behind is a draft. */
async function create(home: ServerHome, binDir: string, durable: boolean, directory: string): Promise<void> {
  const { path, user } = home;
  const draft = await mkdtemp(join(path, 'draft-'));
  const password = join(draft, 'password');
  await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (user) await Promise.all([draft, password].map((file) => chown(file, user.uid, user.gid)));
  const cluster = join(draft, 'cluster');
  const args = [
    '-D',
    cluster,
    '-U',
    superuser,
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
  ];
  if (!durable) args.push('--no-sync');
  try {
    await run(join(binDir, 'initdb'), args, {
      ...user,
      cwd: path,
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    });
  } catch (cause) {
    const message = `PostgreSQL could not make a database in ${path}: ${reasonOf(cause)}.`;
    throw new LocalServerError('UNAVAILABLE', message, { cause });
  }
  await rename(password, passwordFile(cluster));
  await rename(cluster, directory);
  await removeDrafts(home);
}

/** The error of initdb, whose last lines only say what it removes; for a user without a passwd entry, as in containers, the remedy. */
function reasonOf(cause: unknown): string {
  const output = String((cause as { stderr?: string }).stderr).trim();
  const uid = /could not look up effective user ID (\d+)/.exec(output)?.[1];
  if (uid === undefined) return /(?:error|FATAL|PANIC): +(.+)/.exec(output)?.[1] ?? output.split('\n').at(-1) ?? '';
  return `user ${uid} has no entry in /etc/passwd: add one, start as another user, or set DATABASE_URL to a PostgreSQL of your own`;
}

async function removeDrafts(home: ServerHome): Promise<void> {
  const drafts = (await readdir(home.path)).filter((name) => name.startsWith('draft-'));
  await Promise.all(drafts.map((name) => rm(join(home.path, name), { recursive: true, force: true })));
}
