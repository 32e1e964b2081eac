import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { startPostgres } from '../src/embedded-postgres.js';
import { freePort } from '../src/free-port.js';
import { postgresBinaries } from '../src/postgres-binaries.js';
import { serverUser } from '../src/server-user.js';
import { useDataDirectory } from './data-directory.js';

const directory = useDataDirectory();

const onLinux = process.platform === 'linux' ? test : test.skip;
const leftOut = process.platform === 'linux' ? '' : ' [left out: only Linux tells the directory of a process]';

onLinux(`a server that somebody has started by hand keeps its lock file, and is named${leftOut}`, async () => {
  const user = await serverUser(directory.path);
  const settings = ['listen_addresses=127.0.0.1', `port=${await freePort()}`, 'unix_socket_directories='];
  const args = ['-D', 'cluster', ...settings.flatMap((setting) => ['-c', setting])];
  const foreign = spawn(join(await postgresBinaries(user), 'postgres'), args, {
    ...user,
    cwd: directory.path,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    for await (const line of createInterface({ input: foreign.stderr })) if (/ready to accept/.test(line)) break;
    const message = expect.stringContaining(`started by hand (process ${foreign.pid})`);
    const start = startPostgres({ dataDir: directory.path, fsync: false });
    await expect(start).rejects.toMatchObject({ reason: 'IN_USE', message });
    const lockFile = await readFile(join(directory.path, 'cluster/postmaster.pid'), 'utf8');
    expect(lockFile).toMatch(new RegExp(`^${foreign.pid}\\n`));
  } finally {
    foreign.kill('SIGQUIT');
    await once(foreign, 'exit');
  }
});

test('a cluster that cannot be made says why, and not how initdb clears away', async () => {
  await rm(directory.path, { recursive: true });
  const binDir = await postgresBinaries(await serverUser(directory.path));
  const limited = join(dirname(directory.path), 'bin');
  await mkdir(limited);
  // No file over 512 kB fits, as on a disk that is full.
  await writeFile(join(limited, 'initdb'), `#!/bin/sh\nulimit -f 1000\nexec '${binDir}/initdb' "$@"\n`);
  await chmod(join(limited, 'initdb'), 0o755);
  await symlink(join(binDir, 'postgres'), join(limited, 'postgres'));
  const start = startPostgres({ dataDir: directory.path, fsync: false, binDir: limited });
  await expect(start).rejects.toMatchObject({
    reason: 'UNAVAILABLE',
    message: expect.stringContaining('File too large'),
  });
});
