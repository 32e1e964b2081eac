import type { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { hashLoginKey } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import type { Peer } from '@acsp/service';
import type { Clock } from '@acsp/time';
import { createAgentCache } from './agent-cache.js';
import { createProvenPath } from './proven-path.js';

export interface KeyHolder {
  readonly aid: string;
  readonly name: string;
  /** In milliseconds since 1970; undefined before the agent is registered. */
  readonly registeredAt: number | undefined;
}

export interface SigningKey extends KeyHolder {
  /** 64 hex characters. */
  readonly publicKey: string;
  /** Signatures with an earlier timestamp are those of a former life; in milliseconds since 1970. */
  readonly signedFrom: number;
}

/** Runs the look-up of a credential that this process does not know, or throws to prevent it. */
type Admit = <T>(lookUp: () => Promise<T>) => Promise<T>;

/** The holders of credentials, as the identity service knows them. */
export interface Keys {
  /** Throws INVALID_LOGIN_KEY. */
  loginKey(key: string, admit: Admit): Promise<KeyHolder>;
  /** The registered key of an active agent, in hex. Throws AID_NOT_FOUND. */
  signingKey(aid: string, admit: Admit): Promise<SigningKey>;
  /** The same of an agent that may have been revoked or deleted, looked up afresh. Throws AID_NOT_FOUND. */
  endedSigningKey(aid: string): Promise<SigningKey>;
  /** Invalidates all that is known of an agent. */
  drop(aid: string): void;
  /** A probe of the path came back. */
  pathProven(nonce: string): void;
  /** `false` while the bus is cut; everything is forgotten at each change. */
  setLive(live: boolean): void;
}

const maxEntries = 20_000;
const freshWhileProvenMs = 30_000;
/** A revoked key must be useless within a second, also where no event says so. */
const freshOtherwiseMs = 500;
const proveTimeoutMs = 1_000;

export interface KeysOptions {
  readonly identity: Peer<typeof IdentityService>;
  /** For expiry, which is a time of day. */
  readonly clock: Clock;
  /** For ages: milliseconds that are never set back. */
  readonly elapsedMs: () => number;
}

export function createKeys({ identity, clock, elapsedMs }: KeysOptions): Keys {
  const path = createProvenPath({
    elapsedMs,
    prove: (nonce) => identity.provePath({ nonce }, { timeoutMs: proveTimeoutMs }),
  });
  const freshMs = () => (path.isProven() ? freshWhileProvenMs : freshOtherwiseMs);
  const common = { maxEntries, now: elapsedMs, freshMs };

  const loginKeys = createAgentCache({
    ...common,
    ask: async (key) => {
      const { aid, agent_name: name, expires_at, registered_at } = await identity.verifyLoginKey({ login_key: key });
      const expiresAt = expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
      return { aid, name, expiresAt, registeredAt: registered_at?.getTime() };
    },
  });
  const askSigningKey = async (aid: string, include_ended?: boolean): Promise<SigningKey> => {
    const { agent_name: name, public_key: publicKey, ...key } = await identity.getSigningKey({ aid, include_ended });
    const signedFrom = key.signed_from?.getTime() ?? 0;
    return { aid, name, publicKey, registeredAt: key.registered_at?.getTime(), signedFrom };
  };
  const signingKeys = createAgentCache({ ...common, ask: (aid) => askSigningKey(aid) });

  return {
    async loginKey(key, admit) {
      path.probe();
      // The key itself is not kept: a later reader of this process's memory must not find it.
      const holder = await loginKeys.find(hashLoginKey(key).toString('base64'), key, admit);
      if (holder.expiresAt <= clock.now().getTime()) throw new AppError('INVALID_LOGIN_KEY');
      return holder;
    },
    async signingKey(aid, admit) {
      path.probe();
      return signingKeys.find(aid, aid, admit);
    },
    endedSigningKey: (aid) => askSigningKey(aid, true),
    drop(aid) {
      loginKeys.drop(aid);
      signingKeys.drop(aid);
    },
    pathProven: path.see,
    setLive(live) {
      path.setLive(live);
      // Entries that were learned while nobody said what changed may be wrong already.
      loginKeys.clear();
      signingKeys.clear();
    },
  };
}
