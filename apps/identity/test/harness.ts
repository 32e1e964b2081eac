import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { aidOf, generateKeyPair } from '@acsp/crypto';
import { catalogue, type ErrorCode } from '@acsp/errors';
import type { Agent } from '@acsp/operation';
import { createPeer } from '@acsp/service';
import { anonymous, eventually, type ServiceOptions, startService, type TestService } from '@acsp/testkit';
import type { Context } from '../src/context.js';
import { Prisma } from '../src/generated/prisma/client.js';
import { service } from '../src/service.js';

export { anonymous };

export const publicUrl = 'https://acsp.example';

export type Identity = TestService<Context>;

export const startIdentity = (options: ServiceOptions = {}): Promise<Identity> =>
  startService(service, { ...options, env: { PUBLIC_URL: `${publicUrl}/`, REGION_ID: '7', ...options.env } });

/** The service as another one calls it. */
export const peerOf = ({ address, principals }: Identity) =>
  createPeer(IdentityService, { address, principals, name: 'gateway' });

export type Newcomer = Agent & { readonly publicKey: string };

/** Someone with a new key pair that nobody has registered. */
export function newcomer(): Newcomer {
  const { publicKey } = generateKeyPair();
  return { aid: aidOf(publicKey), name: '', via: 'signature', requestId: 'test', publicKey };
}

export type Registered = Newcomer & { readonly loginKey: string; readonly registeredAt: number };

export const profile = { agent_name: 'Ann', capabilities: ['search', 'summary'], description: 'Finds things' };

export function register(identity: Identity, agent: Newcomer, fields: object = {}) {
  const { signedAt = identity.context.clock.now().getTime() } = agent;
  return identity.call({ ...agent, signedAt }, 'POST /register', {
    public_key: agent.publicKey,
    ...profile,
    ...fields,
  });
}

/** A new agent, or the given one in another life, as its login key proves it. */
export async function registered(identity: Identity, fields: object = {}, agent = newcomer()): Promise<Registered> {
  const { publicKey, aid, requestId } = agent;
  const { status, body } = await register(identity, { publicKey, aid, requestId, name: '', via: 'signature' }, fields);
  if (status !== 201) throw new Error(`The registration was answered ${status} ${body.code}`);
  const registeredAt = Date.parse(body.created_at);
  return { ...agent, name: body.agent_name, via: 'login_key', loginKey: body.login_key, registeredAt };
}

/** Types of the events about an agent so far, in order. */
export async function eventsOf({ context }: Identity, aid: string): Promise<string[]> {
  const rows = await context.database.prisma.$queryRaw<{ type: string }[]>`
    SELECT type FROM bus.outbox WHERE payload ->> 'aid' = ${aid} ORDER BY position`;
  return rows.map(({ type }) => type);
}

/** The record of an agent, as anybody may see it. */
export const recordOf = async (identity: Identity, { aid }: { readonly aid: string }) =>
  (await identity.call(anonymous, `GET /status?aid=${aid}`)).body;

export const keysOf = ({ context }: Identity, { aid }: { readonly aid: string }): Promise<number> =>
  context.database.prisma.loginKey.count({ where: { aid } });

/** Holds a lock until so many calls wait for it, and answers them: all have read what was there before any of them could write. */
export async function whileLocked<T>({ context }: Identity, lock: Prisma.Sql, start: () => Promise<T>[]): Promise<T[]> {
  const { prisma } = context.database;
  let calls: Promise<T>[] = [];
  await prisma.$transaction(async (tx) => {
    await tx.$queryRaw(lock);
    calls = start();
    await eventually(async () => (await waiting({ context })) === calls.length);
  });
  return Promise.all(calls);
}

/** The number of statements that wait for a lock. */
export async function waiting({ context }: Pick<Identity, 'context'>, statement = '%'): Promise<number> {
  const rows = await context.database.prisma.$queryRaw<object[]>`
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ${statement}`;
  return rows.length;
}

export const agentLock = ({ aid }: { readonly aid: string }) =>
  Prisma.sql`SELECT 1 FROM agent WHERE aid = ${aid} FOR UPDATE`;

/** An answer with this code. */
export const refused = (code: ErrorCode) => ({ status: catalogue[code].http, body: { code } });

/** Rows of a field, a value and the code that refuses it, with a short text of the value for the test's name. */
export const withLabels = (rows: readonly (readonly [field: string, value: unknown, code: ErrorCode])[]) =>
  rows.map(([field, value, code]) => [field, label(value), code, value] as const);

function label(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 24 ? `${text.slice(0, 20)}… (${text.length})` : text;
}
