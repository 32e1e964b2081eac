import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

test.each(['start.mjs', 'test.mjs'])('%s says in one sentence that Node is too old', (command) => {
  const pretend = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.18.3"}})';
  const path = fileURLToPath(new URL(`../${command}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pretend, path], { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([
    1,
    '',
    'This needs Node.js 20.19 or later, and this is 20.18.3: see https://nodejs.org.\n',
  ]);
});

const fullDisk = process.platform === 'linux' ? test : test.skip;
fullDisk(
  'a full disk behind its output does not end the start (on Linux, which has /dev/full)',
  () => {
    const full = openSync('/dev/full', 'w');
    const path = fileURLToPath(new URL('../start.mjs', import.meta.url));
    const env = { ...process.env, PORT: 'nowhere' };
    const { status, stderr } = spawnSync(process.execPath, [path], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^standalone could not start: [^\n]*PORT [^\n]+\n$/)]);
  },
  120_000,
);

describe('the fingerprint of the working tree', () => {
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'apps/a/package.json', 'apps/a/src/main.ts'];
  const more = [
    'packages/p/package.json',
    'infra/local/package.json',
    'proto/a.proto',
    'apps/a/dist/main.js',
    'apps/a/test/a.test.ts',
  ];
  let root: string;
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'acsp-tree-'));
    for (const file of [...files, ...more]) write(file, '{}');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test.each([
    ['apps/a/package.json', { install: true, build: true }],
    ['pnpm-lock.yaml', { install: true, build: true }],
    ['apps/a/src/main.ts', { install: false, build: true }],
    ['proto/a.proto', { install: false, build: true }],
    ['apps/a/dist/main.js', { install: false, build: false }],
    ['apps/a/test/a.test.ts', { install: false, build: false }],
  ])('after a change of %s', async (file, changed) => {
    const { fingerprint } = await import('../fingerprint.mjs');
    const before = fingerprint(root);
    expect(fingerprint(root)).toEqual(before);
    write(file, '{ "changed": true }');
    const after = fingerprint(root);
    expect({ install: after.install !== before.install, build: after.build !== before.build }).toEqual(changed);
  });
});
