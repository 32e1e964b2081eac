import { once } from 'node:events';
import { createPrincipals } from '@acsp/operation';
import { doorOf, eventually, principalSecret, spawnSource } from '@acsp/testkit';
import { service } from '../../src/service.js';

export interface MessagingProcess extends ReturnType<typeof doorOf>, AsyncDisposable {
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** The service in a process of its own. There is no broker, so what it announces stays in the outbox. */
export async function startProcess(databaseUrl: string, identity: string): Promise<MessagingProcess> {
  const child = spawnSource(new URL('child.ts', import.meta.url), [], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      IDENTITY_GRPC: identity,
      NATS_URL: 'nats://127.0.0.1:1',
      PRINCIPAL_SECRET: principalSecret,
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      GRPC_PORT: '0',
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const listening = async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${said}`);
    return /listens on (\S+)/.exec(said)?.[1] ?? false;
  };
  const url = await eventually(listening, { timeoutMs: 20_000 }).catch(async (error) => {
    await kill();
    throw error;
  });
  const door = doorOf(service, { url, principals: createPrincipals([principalSecret]) });
  return { ...door, kill, [Symbol.asyncDispose]: kill };
}
