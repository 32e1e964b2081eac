import { hashLoginKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Context } from '../context.js';
import { createAgentCache } from './agent-cache.js';

export interface KeyHolder {
  readonly aid: string;
  readonly name: string;
}

/** Whose credentials are whose, as the identity service says it. */
export interface Keys {
  /** Throws INVALID_LOGIN_KEY. */
  loginKey(key: string): Promise<KeyHolder>;
  /** The registered key of an active agent, in hex. Throws AID_NOT_FOUND. */
  signingKey(aid: string): Promise<KeyHolder & { readonly publicKey: string }>;
  drop(aid: string): void;
  /** Whether every change of an agent is heard of at once. */
  setLive(live: boolean): void;
}

const maxEntries = 20_000;
const freshWhileLiveMs = 30_000;
/** A revoked key must be useless within a second, also where no event says so. */
const freshOtherwiseMs = 500;

export function createKeys({ identity, clock }: Pick<Context, 'identity' | 'clock'>): Keys {
  let live = false;
  const now = () => clock.now().getTime();
  const common = { maxEntries, now, freshMs: () => (live ? freshWhileLiveMs : freshOtherwiseMs) };

  const loginKeys = createAgentCache({
    ...common,
    ask: async (loginKey) => {
      const { aid, agentName, expiresAt } = await identity.verifyLoginKey({ loginKey });
      return {
        aid,
        name: agentName,
        expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : timestampMs(expiresAt),
      };
    },
  });
  const signingKeys = createAgentCache({
    ...common,
    ask: async (aid) => {
      const { agentName, publicKey } = await identity.getSigningKey({ aid });
      return { aid, name: agentName, publicKey };
    },
  });

  return {
    async loginKey(key) {
      // The key itself is not kept: who reads this process's memory later must not find it.
      const holder = await loginKeys.find(hashLoginKey(key).toString('base64'), key);
      if (holder.expiresAt <= now()) throw new AppError('INVALID_LOGIN_KEY');
      return holder;
    },
    signingKey: (aid) => signingKeys.find(aid, aid),
    drop(aid) {
      loginKeys.drop(aid);
      signingKeys.drop(aid);
    },
    setLive(isLive) {
      live = isLive;
      // What was learned while nobody said what changed may be wrong already.
      loginKeys.clear();
      signingKeys.clear();
    },
  };
}
