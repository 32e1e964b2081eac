import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';

/** Runs a program of the tool chain, quietly: its output is shown when it fails. A .js file and an npm program run on this Node. */
export async function runStep(program, args, { cwd, env, say }) {
  const path = [join(cwd, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  const options = { cwd, env: { ...process.env, PATH: path, ...env }, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = program.includes('/')
    ? spawn(process.execPath, [program, ...args], options)
    : spawn(program, args, options);
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const started = Date.now();
  const patience = setInterval(() => say(`  … ${Math.round((Date.now() - started) / 1000)} s`), 10_000);
  // Ctrl-C reaches the child by itself, a signal to this process alone does not.
  const stop = (signal) => {
    child.kill(signal);
    process.exit(signal === 'SIGHUP' ? 129 : 143);
  };
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, stop);
  try {
    const how = await new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(signal ?? code));
    });
    if (how === 0) return;
    process.stderr.write(Buffer.concat(output));
    throw new Error(`${[program.split('/').at(-1), ...args].join(' ')} failed (${how}); what it said stands above.`);
  } finally {
    clearInterval(patience);
    for (const signal of ['SIGTERM', 'SIGHUP']) process.off(signal, stop);
  }
}
