import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { localServer, type ServerName, startNats, startRedis } from '@acsp/local';
import { dockerAnswers, startContainer } from './docker.js';
import { startTestPostgres } from './test-postgres.js';

/** A server for the tests and where it came from, or why there is none. */
export type Found = ({ url: string } & Partial<AsyncDisposable>) | { missing: string };

/** A place to look: undefined when it has none, an error when it has one that does not work. */
type Place = readonly [name: string, look: () => Promise<({ url: string } & Partial<AsyncDisposable>) | undefined>];

const variables = { postgres: 'TEST_DATABASE_URL', nats: 'TEST_NATS_URL', redis: 'TEST_REDIS_URL' };
const titles = { postgres: 'PostgreSQL', nats: 'NATS', redis: 'Redis' };

/** Takes the first that works: a URL in the environment, a Docker engine, a program on this machine, and for PostgreSQL the embedded one. */
export async function findServer(name: ServerName, log: (line: string) => void): Promise<Found> {
  const title = titles[name];
  const tried: string[] = [];
  for (const [place, look] of places(name)) {
    try {
      const found = await look();
      if (found) {
        log(`${title}: ${[...tried, place].join('; ')}`);
        return found;
      }
    } catch (error) {
      tried.push(`${place} failed (${(error as Error).message.split('\n')[0]})`);
    }
  }
  const missing = tried.join('; ') || 'no URL, no Docker engine, no program (infra/local/fetch-servers.sh fetches one)';
  log(`${title}: left out: ${missing}`);
  return { missing };
}

function places(name: ServerName): Place[] {
  const url = process.env[variables[name]];
  const program = localServer(name);
  const common: Place[] = [
    [variables[name], async () => (url ? { url } : undefined)],
    ['a Docker container', async () => ((await dockerAnswers()) ? startContainer(name) : undefined)],
    [String(program), async () => (program ? startProgram(name, program) : undefined)],
  ];
  return name === 'postgres' ? [...common, ['embedded', () => startTestPostgres('embedded')]] : common;
}

async function startProgram(name: ServerName, program: string) {
  if (name === 'nats') return startNats();
  if (name === 'redis') return startRedis();
  return startTestPostgres('system', dirname(await realpath(program)));
}
