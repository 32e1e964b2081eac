import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '@acsp/errors';

/** How the caller proved who it is. */
export type Via = 'login_key' | 'signature' | 'aid' | 'anonymous' | 'internal' | 'service';

/** Who a call is made for. */
export interface Principal {
  /** 50 lowercase hex characters; absent for anonymous callers, the scheduler and services. */
  readonly aid?: string;
  /** The agent's name, or the name of a service. */
  readonly name: string;
  readonly via: Via;
  readonly requestId: string;
}

/** A principal that is an agent. */
export type Agent = Principal & { readonly aid: string };

export interface Principals {
  /** A token good for one minute, for the `acsp-principal` header and metadata. */
  sign(principal: Principal): string;
  /** Throws AUTH_REQUIRED unless the token is whole, ours and not older than a minute. */
  verify(token: string | undefined): Principal;
}

export const principalHeader = 'acsp-principal';

const lifetimeMs = 60_000;
/** Clocks of two machines may differ by this much. */
const skewMs = 5_000;

/** For so long the calls that are made for one principal share a token, and the proof of a token holds: half of what a token costs is its HMAC. */
const reuseMs = 10_000;
const maxProven = 1_000;

/** Tokens are base64url(JSON) and base64url(HMAC-SHA256 over that text), joined by a dot. */
export function createPrincipals(secret: string, now: () => number = Date.now): Principals {
  const mac = (text: string) => createHmac('sha256', secret).update(text).digest();
  const signed = new WeakMap<Principal, { readonly token: string; readonly at: number }>();
  const proven = new Map<string, { readonly principal: Principal; readonly at: number }>();

  function sign(principal: Principal, at: number): string {
    const { aid, name, via, requestId } = principal;
    const payload = Buffer.from(JSON.stringify([aid ?? '', name, via, requestId, at])).toString('base64url');
    return `${payload}.${mac(payload).toString('base64url')}`;
  }

  function prove(token: string) {
    const dot = token.indexOf('.');
    const proof = Buffer.from(token.slice(dot + 1), 'base64url');
    const payload = token.slice(0, Math.max(dot, 0));
    const expected = mac(payload);
    if (proof.length !== expected.length || !timingSafeEqual(proof, expected)) throw new AppError('AUTH_REQUIRED');
    const [aid, name, via, requestId, at] = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const principal: Principal = Object.freeze({ ...(aid !== '' && { aid }), name, via, requestId });
    return { principal, at: at as number };
  }

  return {
    sign(principal) {
      const at = now();
      let last = signed.get(principal);
      if (last === undefined || at - last.at > reuseMs || at < last.at) {
        last = { token: sign(principal, at), at };
        signed.set(principal, last);
      }
      return last.token;
    },
    verify(token = '') {
      const known = proven.get(token);
      const found = known ?? prove(token);
      const age = now() - found.at;
      if (age > lifetimeMs + skewMs || age < -skewMs) throw new AppError('AUTH_REQUIRED');
      if (known === undefined) {
        if (proven.size >= maxProven) proven.clear();
        proven.set(token, found);
      }
      return found.principal;
    },
  };
}
