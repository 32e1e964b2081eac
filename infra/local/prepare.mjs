import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprint, workspacePackages } from './fingerprint.mjs';
import { claimWhenFree } from './process-lock.mjs';
import { runStep } from './run-step.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const stampFile = join(root, 'node_modules/.acsp-prepared.json');

/**
 * Brings the working tree to the state in which it can run: dependencies installed, code generated, everything built. Takes 20 ms when
 * nothing has changed since the last time. One process does it at a time, the others wait. `say` receives a line for each step.
 */
export async function prepare(say) {
  if (unchanged(fingerprint(root)).build) return;
  const claims = join(root, '.turbo/prepare');
  const onWait = (pid) => say(`waiting for process ${pid}, which is building here`);
  const { release, holder } = await claimWhenFree(claims, { timeoutMs: 15 * 60_000, onWait });
  if (!release)
    throw new Error(`Process ${holder} has been building here for a quarter of an hour: stop it and try again.`);
  try {
    const prints = fingerprint(root);
    const done = unchanged(prints);
    if (!done.install) await install(say);
    if (!done.build) await build(say);
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    writeFileSync(stampFile, JSON.stringify(prints));
  } finally {
    release();
  }
}

/** The results that still stand from the last time; the results are looked at too, because people delete them. */
function unchanged(prints) {
  let stamp = {};
  try {
    stamp = JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    // The stamp is missing at the first time and after a run that did not finish.
  }
  const install = stamp.install === prints.install && existsSync(join(root, 'node_modules/.modules.yaml'));
  const built = () =>
    workspacePackages(root).every(({ path, scripts }) => !scripts?.build || existsSync(join(path, 'dist')));
  return { install, build: install && stamp.build === prints.build && built() };
}

async function install(say) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  say('installing the dependencies');
  // Without CI, pnpm may want to ask a question that nobody is there to answer.
  await runStep(npx(), ['--yes', packageManager, 'install', '--frozen-lockfile'], {
    cwd: root,
    env: { CI: 'true' },
    say,
  });
}

/** The npx of the npm that called us runs on the same Node as we do; the one on the PATH may not. */
function npx() {
  const beside = process.env.npm_execpath?.replace(/npm-cli\.js$/, 'npx-cli.js');
  return beside?.endsWith('npx-cli.js') && existsSync(beside) ? beside : 'npx';
}

async function build(say) {
  say('generating and building');
  const env = {
    TURBO_TELEMETRY_DISABLED: '1',
    // Generating a client needs no engine, but Prisma downloads one unless it is shown a file: any will do.
    PRISMA_SCHEMA_ENGINE_BINARY: process.env.PRISMA_SCHEMA_ENGINE_BINARY || fileURLToPath(import.meta.url),
  };
  const turbo = join(root, 'node_modules/turbo/bin/turbo');
  await runStep(turbo, ['run', 'build', '--ui=stream', '--output-logs=errors-only'], { cwd: root, env, say });
}
