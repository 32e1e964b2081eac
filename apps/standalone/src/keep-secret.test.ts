import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepSecret } from './keep-secret.js';

let folder: string;
let dataDir: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'acsp-secret-'));
  dataDir = join(folder, 'data');
  file = join(dataDir, 'principal.secret');
});
afterEach(() => rm(folder, { recursive: true }));

test('a secret is kept from one start to the next, and others cannot read it', async () => {
  const secret = await keepSecret(dataDir);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(await keepSecret(dataDir)).toBe(secret);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('the newline that an editor adds is no part of it', async () => {
  const secret = await keepSecret(dataDir);
  await writeFile(file, `${secret}\n`);
  expect(await keepSecret(dataDir)).toBe(secret);
});

test.each(['', 'short', `${'x'.repeat(31)}\n`])('%j is too short, and another takes its place', async (text) => {
  await keepSecret(dataDir);
  await writeFile(file, text);
  await chmod(file, 0o644);
  const secret = await keepSecret(dataDir);
  expect(secret).toHaveLength(64);
  expect(await readFile(file, 'utf8')).toBe(secret);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? test : test.skip;
const leftOut = isRoot ? '' : ' [left out: only root can give a file away]';

asRoot(`root leaves the user of the directory a secret that it can read${leftOut}`, async () => {
  await mkdir(dataDir);
  await chown(dataDir, 12_345, 12_346);
  const secret = await keepSecret(dataDir);
  expect(await stat(file)).toMatchObject({ uid: 12_345, gid: 12_346 });
  // Root's own, as starts of before have left it.
  await chown(file, 0, 0);
  expect(await keepSecret(dataDir)).toBe(secret);
  expect(await stat(file)).toMatchObject({ uid: 12_345, gid: 12_346 });
});
