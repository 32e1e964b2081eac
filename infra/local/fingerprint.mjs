import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const results = new Set(['node_modules', 'dist', 'generated', 'test', 'docs']);
const directories = ['apps', 'packages', 'infra/local', 'proto'];
const settings = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'];

/** Two hashes over paths, sizes and times of change: of what an installation depends on, and of what a build depends on. */
export function fingerprint(root) {
  const files = directories.flatMap((directory) => filesBelow(join(root, directory)));
  const top = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.(json|ya?ml)$/.test(entry.name),
  );
  const manifests = files.filter((path) => path.endsWith('package.json'));
  const platform = `${process.platform}-${process.arch}`;
  const install = hash([...settings.map((name) => join(root, name)), ...manifests], platform);
  return { install, build: hash([...top.map((entry) => join(root, entry.name)), ...files], install) };
}

/** Every package of the workspace: its manifest, and where it lies. */
export function workspacePackages(root) {
  const paths = ['apps', 'packages'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  );
  return [...paths, join(root, 'infra/local')].flatMap((path) => {
    try {
      return [{ ...JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')), path }];
    } catch {
      return [];
    }
  });
}

function filesBelow(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (results.has(entry.name) || entry.name.startsWith('.')) return [];
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function hash(paths, seed) {
  const digest = createHash('sha256').update(seed);
  for (const path of [...paths].sort()) {
    const { size, mtimeMs } = statSync(path);
    digest.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return digest.digest('hex');
}
