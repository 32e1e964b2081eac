import { freePort, type LocalServer, type ServerName, startNats, startRedis } from '@acsp/local';
import { startContainer } from './docker.js';

/** The servers that a run found, passed on to the test files through TEST_SERVERS. */
export interface ServerReport {
  urls: Partial<Record<ServerName, string>>;
  missing: Partial<Record<ServerName, string>>;
  /** The source of a server that a test has for itself. */
  own: Partial<Record<'nats' | 'redis', 'program' | 'docker' | 'none'>>;
}

/** A shared server of the run, or one that the test starts for itself in order to kill it. */
export type Need = ServerName | 'own nats' | 'own redis';

/** The servers of this run. */
export function servers(): ServerReport {
  const report = process.env.TEST_SERVERS;
  if (!report)
    throw new Error("No servers were started for this run: is the testkit's set-up named in jest.config.js?");
  return JSON.parse(report) as ServerReport;
}

/** The URL of a shared server; throws when there is none, so a suite that can do without is written with `describeWith`. */
export function serverUrl(name: ServerName): string {
  const { urls, missing } = servers();
  const url = urls[name];
  if (!url) throw new Error(`There is no ${name} server for the tests: ${missing[name]}`);
  return url;
}

/** A suite that needs servers: left out, with the reason in its name, where one is missing. */
export function describeWith(needs: Need | Need[], name: string, suite: () => void): void {
  const reasons = [needs].flat().flatMap((need) => reasonAgainst(need) ?? []);
  if (reasons.length === 0) describe(name, suite);
  else describe.skip(`${name} [left out: ${reasons.join('; ')}]`, suite);
}

function reasonAgainst(need: Need): string | undefined {
  const { urls, missing, own } = servers();
  if (need === 'own nats' || need === 'own redis') {
    const name = need === 'own nats' ? 'nats' : 'redis';
    return own[name] === 'none' ? `${need}: no Docker engine, no program` : undefined;
  }
  return urls[need] ? undefined : `${need}: ${missing[need]}`;
}

/** NATS with JetStream for this test alone. Guard the suite with `describeWith('own nats', …)`. */
export const ownNats = (): Promise<LocalServer> => ownServer('nats');

/** Redis for this test alone. Guard the suite with `describeWith('own redis', …)`. */
export const ownRedis = (): Promise<LocalServer> => ownServer('redis');

async function ownServer(name: 'nats' | 'redis'): Promise<LocalServer> {
  if (servers().own[name] === 'program') return name === 'nats' ? startNats() : startRedis();
  const { getContainerRuntimeClient } = await import('testcontainers');
  const container = await startContainer(name, await freePort());
  const handle = (await getContainerRuntimeClient()).container.getById(container.id);
  const runningPid = async (): Promise<number> => (await handle.inspect()).State.Pid;
  const kill = async () => void (await handle.kill().catch(() => {}));
  let pid = await runningPid();
  return {
    url: container.url,
    get pid() {
      return pid;
    },
    kill,
    restart: async () => {
      await kill();
      await handle.start();
      pid = await runningPid();
    },
    [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
  };
}
