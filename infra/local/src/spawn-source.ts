import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a TypeScript file in a process of its own, without a build: for tests that kill what they start. */
export function spawnSource(file: string | URL, args: string[] = [], options: SpawnOptions = {}): ChildProcess {
  const loader = new URL('../source-loader.mjs', import.meta.url).href;
  const path = typeof file === 'string' ? file : fileURLToPath(file);
  const flags = ['--enable-source-maps', '--conditions=source', '--import', loader];
  return spawn(process.execPath, [...flags, path, ...args], options);
}
