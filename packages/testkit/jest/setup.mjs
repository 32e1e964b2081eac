import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const loader = new URL('../../../infra/local/source-loader.mjs', import.meta.url).href;
const program = fileURLToPath(new URL('../src/run-servers.ts', import.meta.url));

/** Starts the servers of a run before its first test; the workers inherit TEST_SERVERS. */
// biome-ignore lint/style/noDefaultExport: Jest takes nothing else.
export default async function setup() {
  const flags = ['--enable-source-maps', '--conditions=source', '--import', loader];
  process.stderr.write('Servers for the tests:\n');
  const servers = spawn(process.execPath, [...flags, program], { stdio: ['pipe', 'pipe', 'inherit'] });
  globalThis.testServers = servers;
  process.env.TEST_SERVERS = await new Promise((resolve, reject) => {
    createInterface({ input: servers.stdout }).once('line', resolve);
    servers.once('exit', (code) =>
      reject(new Error(`The servers for the tests could not be started (exit code ${code}).`)),
    );
  });
}
