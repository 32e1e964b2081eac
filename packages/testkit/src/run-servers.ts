import { localServer, type ServerName } from '@acsp/local';
import { dockerAnswers } from './docker.js';
import { findServer } from './find-servers.js';
import type { ServerReport } from './servers.js';

// A process of its own beside Jest: it ends, and the servers with it, when its standard input closes, which the system sees to
// even when Jest is killed. Ctrl-C in the terminal reaches it too, and must not end it before the servers are stopped.
process.on('SIGINT', () => {});
const log = (line: string) => process.stderr.write(`  ${line}\n`);
const names = ['postgres', 'nats', 'redis'] as const;
const found = await Promise.all(names.map((name) => findServer(name, log)));

const report: ServerReport = { urls: {}, missing: {}, own: {} };
for (const [index, name] of names.entries()) {
  const server = found[index];
  if (server && 'url' in server) report.urls[name] = server.url;
  else report.missing[name] = server?.missing ?? 'it was not looked for';
}
for (const name of ['nats', 'redis'] as const) report.own[name] = await ownSource(name);
process.stdout.write(`${JSON.stringify(report)}\n`);

process.stdin.resume();
process.stdin.once('end', async () => {
  await Promise.allSettled(found.map((server) => ('url' in server ? server[Symbol.asyncDispose]?.() : undefined)));
  process.exit(0);
});

async function ownSource(name: Exclude<ServerName, 'postgres'>): Promise<'program' | 'docker' | 'none'> {
  if (localServer(name)) return 'program';
  return (await dockerAnswers()) ? 'docker' : 'none';
}
