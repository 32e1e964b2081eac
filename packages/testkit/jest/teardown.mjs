import { once } from 'node:events';

// biome-ignore lint/style/noDefaultExport: Jest takes nothing else.
export default async function teardown() {
  const servers = globalThis.testServers;
  if (!servers || servers.exitCode !== null) return;
  servers.stdin.end();
  await once(servers, 'exit');
}
