import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { prepare, root } from './prepare.mjs';

const say = (line) => process.stdout.write(`${line}\n`);

/** One Jest over the whole repository. Ends with the counts, on a line of their own; gives the exit code. */
export async function runTests(jestArguments) {
  await prepare(say);
  const scratch = mkdtempSync(join(tmpdir(), 'acsp-test-'));
  try {
    const outcome = join(scratch, 'outcome.json');
    const exitCode = await jest([`--outputFile=${outcome}`, ...jestArguments]);
    return summarise(readOutcome(outcome), exitCode);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function jest(args) {
  const program = join(root, 'node_modules/jest/bin/jest.js');
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const env = { ...process.env, NODE_OPTIONS: [process.env.NODE_OPTIONS, ...flags].filter(Boolean).join(' ') };
  const child = spawn(process.execPath, [program, '--json', '--maxWorkers=2', ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function readOutcome(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error('The test run ended before it could say how it went.');
  }
}

function summarise(outcome, exitCode) {
  for (const line of leftOut(outcome)) say(line);
  // A file that can't even be loaded holds tests that nobody counted: it counts as one.
  const failed = outcome.numFailedTests + outcome.numRuntimeErrorTestSuites;
  const skipped = outcome.numPendingTests + outcome.numTodoTests;
  say(`${outcome.numPassedTests} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
  const nothingRan = outcome.numPassedTests + failed === 0;
  return failed || nothingRan ? exitCode || 1 : exitCode;
}

/** A line for each suite that did not run, with the reason that describeWith of the testkit wrote into its name. */
function leftOut({ testResults }) {
  const lines = new Map();
  for (const { name, assertionResults } of testResults) {
    for (const { ancestorTitles } of assertionResults) {
      const suite = ancestorTitles.find((title) => title.includes('[left out: '));
      if (!suite) continue;
      const line = `left out: ${relative(root, name)}: ${suite.replace('[left out: ', '(').replace(/\]$/, ')')}`;
      lines.set(line, (lines.get(line) ?? 0) + 1);
    }
  }
  return [...lines].map(([line, count]) => (count > 1 ? `${line}, ${count} tests` : line));
}
