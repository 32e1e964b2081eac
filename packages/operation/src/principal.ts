import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '@acsp/errors';

/** How the caller proved who it is. */
export type Via = 'login_key' | 'signature' | 'aid' | 'anonymous' | 'internal' | 'service';

/** The agent or service that a call is made for, as far as the gateway knows it. */
export interface Principal {
  /** 50 lowercase hex characters, always proven; absent for anonymous callers, the scheduler and services. */
  readonly aid?: string | undefined;
  /** An AID that somebody only named. */
  readonly claimedAid?: string | undefined;
  /** The agent's name, or the name of a service. */
  readonly name: string;
  readonly via: Via;
  /** The timestamp of the request's signature, which verified, in milliseconds since 1970; absent on requests without either. */
  readonly signedAt?: number | undefined;
  readonly requestId: string;
  /** Milliseconds since 1970. An agent that was deleted and registered again differs by it from the one before. */
  readonly registeredAt?: number | undefined;
  /** The rpc that the gateway chose; only the door of that rpc goes by it. */
  readonly rpc?: string | undefined;
  readonly idempotency?: Idempotency | undefined;
}

/** Digests of a request with an Idempotency-Key, made by the gateway. */
export interface Idempotency {
  /** Digest of caller and key. */
  readonly key: string;
  /** Digest of the request, by which another one under the same key is refused. */
  readonly print: string;
}

/** A principal that is an agent. */
export type Agent = Principal & { readonly aid: string };

/** An agent from its registration to its deletion. What it keeps belongs to one life, so that a request of a former one never touches the present one. */
export interface Life {
  readonly aid: string;
  readonly since: Date;
}

/** The life of a caller; that of nobody has no AID. */
export const lifeOf = ({ aid = '', registeredAt = 0 }: Pick<Principal, 'aid' | 'registeredAt'>): Life => ({
  aid,
  since: new Date(registeredAt),
});

export interface Principals {
  /** A token good for one minute, for the `acsp-principal` header and metadata. */
  sign(principal: Principal): string;
  /**
   * Throws AUTH_REQUIRED unless the token is whole and ours, and SERVICE_UNAVAILABLE when only its time is wrong: then a clock of the
   * deployment is off, which is no fault of the caller.
   */
  verify(token: string | undefined): Principal;
}

export const principalHeader = 'acsp-principal';

const lifetimeMs = 60_000;
/** Clocks of two machines may differ by this much. */
const skewMs = 10_000;

/** `a,b`: both are accepted and the first signs, so that a secret is replaced without a stop. */
export const secretList = (text: string): string[] => text.split(',').filter((secret) => secret !== '');

export interface PrincipalOptions {
  readonly now?: () => number;
  /** A token was refused that other secrets have signed: another deployment's, or a secret of this one that was not replaced everywhere. */
  readonly onForeign?: (error: Error) => void;
}

/** Tokens are base64url(JSON) and base64url(HMAC-SHA256 over that text), joined by a dot. */
export function createPrincipals(secrets: readonly string[], options: PrincipalOptions = {}): Principals {
  const { now = Date.now, onForeign } = options;
  const [first = ''] = secrets;
  return {
    sign({ aid, claimedAid, name, via, signedAt, requestId, registeredAt, rpc, idempotency }) {
      const content = [
        now(),
        via,
        requestId,
        name,
        aid,
        registeredAt,
        rpc,
        claimedAid,
        idempotency?.key,
        idempotency?.print,
        signedAt,
      ];
      const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
      return `${payload}.${mac(first, payload).toString('base64url')}`;
    },
    verify(token = '') {
      const dot = token.indexOf('.');
      const payload = token.slice(0, Math.max(dot, 0));
      const proof = Buffer.from(token.slice(dot + 1), 'base64url');
      if (!secrets.some((secret) => equal(proof, mac(secret, payload)))) {
        if (token !== '') onForeign?.(new Error('No PRINCIPAL_SECRET of this service has signed it'));
        throw new AppError('AUTH_REQUIRED');
      }
      return read(payload, now());
    },
  };
}

const mac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest();
const equal = (proof: Buffer, expected: Buffer) => proof.length === expected.length && timingSafeEqual(proof, expected);

function read(payload: string, now: number): Principal {
  const [at, via, requestId, name, aid, registeredAt, rpc, claimedAid, key, print, signedAt] = JSON.parse(
    Buffer.from(payload, 'base64url').toString(),
  );
  const age = now - at;
  if (age > lifetimeMs + skewMs || age < -skewMs) {
    throw new AppError('SERVICE_UNAVAILABLE', { cause: new Error(`A principal is ${age} ms old: the clocks differ`) });
  }
  const idempotency = key == null ? undefined : { key, print };
  return {
    via,
    requestId,
    name,
    aid: aid ?? undefined,
    registeredAt: registeredAt ?? undefined,
    rpc: rpc ?? undefined,
    claimedAid: claimedAid ?? undefined,
    idempotency,
    signedAt: signedAt ?? undefined,
  };
}
