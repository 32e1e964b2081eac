import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStack } from '@acsp/service';
import { forms, runForms, scenarios } from './forms.js';
import { describeMachine } from './machine.js';
import { readOptions } from './options.js';
import { startServers } from './servers.js';

// Ends within this time whatever happens, with everything that it started.
const limitMs = 24 * 60_000;

const say = (text: string) => process.stdout.write(`${text}\n`);
const stack = createStack();

async function bench(): Promise<void> {
  const names = scenarios.map(({ name }) => name);
  const options = readOptions(process.argv.slice(2), Object.keys(forms), names);
  const logDir = mkdtempSync(join(tmpdir(), 'acsp-bench-'));
  stack.defer(() => rmSync(logDir, { recursive: true, force: true }));
  // PostgreSQL runs as somebody else when we are root.
  chmodSync(logDir, 0o755);
  const servers = stack.use(await startServers(logDir));
  say(await describeMachine(servers.postgres.version));
  for await (const table of runForms({ servers, logDir }, options, stack)) say(table);
}

function interrupted(): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => reject(new Error(signal)));
    setTimeout(() => reject(new Error(`not done after ${limitMs / 60_000} minutes`)), limitMs).unref();
  });
}

let exitCode = 0;
try {
  await Promise.race([bench(), interrupted()]);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  exitCode = 1;
}
try {
  await stack[Symbol.asyncDispose]();
} finally {
  process.exit(exitCode);
}
