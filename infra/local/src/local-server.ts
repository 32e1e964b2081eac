import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type ServerName = 'nats' | 'redis' | 'postgres';

export const programs = { nats: 'nats-server', redis: 'redis-server', postgres: 'postgres' };

/** The oldest versions that will do, as major * 1000 + minor. NATS 2.10 brought consumers that filter by several subjects, Redis 6.2 brought GETDEL. */
const oldest = { nats: 2_010, redis: 6_002, postgres: 15_000 };

const fetched = fileURLToPath(new URL('../../../.servers/bin', import.meta.url));

/** The path of a server's program: on the PATH, where Debian puts it, or fetched by fetch-servers.sh into .servers/. */
export function localServer(name: ServerName): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  if (name === 'postgres') directories.push(...debianPostgres());
  const candidates = [...directories, fetched].map((directory) => join(directory, programs[name]));
  return candidates.find((path) => isProgram(path) && isRecent(name, path));
}

/** Debian keeps PostgreSQL's programs off the PATH; the newest version comes first. */
function debianPostgres(): string[] {
  try {
    const versions = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => `/usr/lib/postgresql/${version}/bin`);
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isRecent(name: ServerName, path: string): boolean {
  try {
    const [, major, minor] = /(\d+)\.(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' })) ?? [];
    return Number(major) * 1000 + Number(minor) >= oldest[name];
  } catch {
    return false;
  }
}
