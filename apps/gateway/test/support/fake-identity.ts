import { randomUUID } from 'node:crypto';
import type { Bus } from '@acsp/bus';
import { EventSchema } from '@acsp/contracts/events/v1/event';
import { PathEventSchema } from '@acsp/contracts/identity/v1/events';
import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { aidOf, createLoginKey, generateKeyPair } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { type Fields, type Principals, principalHeader, requestFields, toMessage } from '@acsp/operation';
import { serveRpc } from '@acsp/rpc';
import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';

export interface TestAgent {
  readonly aid: string;
  readonly publicKey: string;
  readonly privateKey: string;
  readonly loginKey: string;
  readonly registeredAt: number;
}

/** The questions that the gateway asks the identity service, answered from memory over real gRPC. */
export interface FakeIdentity extends AsyncDisposable {
  readonly address: string;
  /** How often each question was asked. */
  readonly asked: { verifyLoginKey: number; getSigningKey: number; provePath: number };
  /** Awaited before every answer about an agent. */
  delay: () => Promise<void>;
  /** Awaited before every answer to ProvePath; it emits its event first, as far as the bus goes. */
  delayProof: () => Promise<void>;
  /** The way of its events; absent as long as the relay stands still. */
  bus: Pick<Bus, 'publish'> | undefined;
  register(options?: { expiresAt?: Date; signedFrom?: Date }): TestAgent;
  revoke(agent: TestAgent): void;
}

interface Holder {
  readonly aid: string;
  readonly agent_name: string;
  readonly expires_at: Date;
  readonly registered_at: Date;
}

type Signer = Omit<Holder, 'expires_at'> & { readonly public_key: string; readonly signed_from: Date };

export const publish = <Desc extends DescMessage>(
  bus: Pick<Bus, 'publish'>,
  type: string,
  [schema, payload]: [Desc, MessageInitShape<Desc>],
): Promise<void> =>
  bus.publish('identity', [
    create(EventSchema, { id: randomUUID(), type, payload: anyPack(schema, create(schema, payload)) }),
  ]);

export async function fakeIdentity(principals: Principals): Promise<FakeIdentity> {
  const loginKeys = new Map<string, Holder>();
  const signers = new Map<string, Signer>();
  const ended = new Map<string, Signer>();
  const identity: Omit<FakeIdentity, 'address' | 'register' | 'revoke' | typeof Symbol.asyncDispose> = {
    asked: { verifyLoginKey: 0, getSigningKey: 0, provePath: 0 },
    delay: async () => {},
    delayProof: async () => {},
    bus: undefined,
  };
  const find = async <T>(found: T | undefined, code: 'INVALID_LOGIN_KEY' | 'AID_NOT_FOUND') => {
    await identity.delay();
    if (found === undefined) throw new AppError(code);
    return found;
  };

  async function answer(rpc: string, { login_key, aid, nonce, include_ended }: Fields): Promise<unknown> {
    switch (rpc) {
      case 'VerifyLoginKey':
        identity.asked.verifyLoginKey += 1;
        return find(loginKeys.get(String(login_key)), 'INVALID_LOGIN_KEY');
      case 'GetSigningKey':
        identity.asked.getSigningKey += 1;
        return find(signers.get(String(aid)) ?? (include_ended ? ended.get(String(aid)) : undefined), 'AID_NOT_FOUND');
      case 'ProvePath':
        identity.asked.provePath += 1;
        if (identity.bus) await publish(identity.bus, 'path.proven', [PathEventSchema, { nonce: String(nonce) }]);
        await identity.delayProof();
        return {};
      default:
        throw new Error(`${rpc} is not for the gateway`);
    }
  }

  const door = await serveRpc({
    service: IdentityService,
    host: '127.0.0.1',
    port: 0,
    handle: async (desc, request, call) => {
      principals.verify(call.header(principalHeader));
      return toMessage(desc.output, await answer(desc.name, requestFields(desc.input, request)));
    },
  });

  return Object.assign(identity, {
    address: door.address,
    register({ expiresAt = new Date(Date.now() + 86_400_000), signedFrom = new Date(0) } = {}) {
      const keys = generateKeyPair();
      const registered_at = new Date(1_700_000_000_000 + signers.size);
      const agent = {
        ...keys,
        aid: aidOf(keys.publicKey),
        loginKey: createLoginKey().key,
        registeredAt: registered_at.getTime(),
      };
      const { aid, publicKey: public_key } = agent;
      loginKeys.set(agent.loginKey, { aid, agent_name: 'holder', expires_at: expiresAt, registered_at });
      signers.set(aid, { aid, agent_name: 'signer', public_key, registered_at, signed_from: signedFrom });
      return agent;
    },
    revoke({ aid, loginKey }: TestAgent) {
      loginKeys.delete(loginKey);
      const signer = signers.get(aid);
      if (signer !== undefined) ended.set(aid, signer);
      signers.delete(aid);
    },
    [Symbol.asyncDispose]: () => door[Symbol.asyncDispose](),
  });
}
