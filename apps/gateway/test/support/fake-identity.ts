import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { aidOf, createLoginKey, generateKeyPair } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { type AnyOperation, byService, type Principals, serveRpc } from '@acsp/rpc';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';

export interface TestAgent {
  readonly aid: string;
  readonly publicKey: string;
  readonly privateKey: string;
  readonly loginKey: string;
}

/** The two questions that the gateway asks the identity service, answered from memory over real gRPC. */
export interface FakeIdentity extends AsyncDisposable {
  readonly address: string;
  /** How often each question was asked. */
  readonly asked: { verifyLoginKey: number; getSigningKey: number };
  /** Awaited before every answer. */
  delay: () => Promise<void>;
  register(options?: { expiresAt?: Date }): TestAgent;
  revoke(agent: TestAgent): void;
}

interface Holder {
  readonly aid: string;
  readonly agent_name: string;
  readonly expiresAt: Date;
}

export async function fakeIdentity(principals: Principals): Promise<FakeIdentity> {
  const loginKeys = new Map<string, Holder>();
  const signers = new Map<string, string>();
  const asked = { verifyLoginKey: 0, getSigningKey: 0 };
  const identity = { asked, delay: async () => {} };

  const answers: Record<string, AnyOperation> = {
    verifyLoginKey: byService(z.object({ login_key: z.string() }), async (_, { login_key }) => {
      asked.verifyLoginKey += 1;
      const holder = loginKeys.get(login_key);
      await identity.delay();
      if (holder === undefined) throw new AppError('INVALID_LOGIN_KEY');
      return { aid: holder.aid, agentName: holder.agent_name, expiresAt: timestampFromMs(holder.expiresAt.getTime()) };
    }),
    getSigningKey: byService(z.object({ aid: z.string() }), async (_, { aid }) => {
      asked.getSigningKey += 1;
      const publicKey = signers.get(aid);
      await identity.delay();
      if (publicKey === undefined) throw new AppError('AID_NOT_FOUND');
      return { aid, agentName: 'signer', publicKey };
    }),
  };
  const unused = byService(z.unknown(), () => Promise.reject(new Error('not for the gateway')));
  const operations = Object.fromEntries(
    IdentityService.methods.map(({ localName }) => [localName, answers[localName] ?? unused]),
  );
  const log = { error: () => {} };
  const host = '127.0.0.1';
  const door = await serveRpc({ service: IdentityService, operations, context: {}, principals, host, port: 0, log });

  return Object.assign(identity, {
    address: door.address,
    register({ expiresAt = new Date(Date.now() + 86_400_000) } = {}) {
      const keys = generateKeyPair();
      const agent = { ...keys, aid: aidOf(keys.publicKey), loginKey: createLoginKey().key };
      loginKeys.set(agent.loginKey, { aid: agent.aid, agent_name: 'holder', expiresAt });
      signers.set(agent.aid, agent.publicKey);
      return agent;
    },
    revoke({ aid, loginKey }: TestAgent) {
      loginKeys.delete(loginKey);
      signers.delete(aid);
    },
    [Symbol.asyncDispose]: () => door[Symbol.asyncDispose](),
  });
}
