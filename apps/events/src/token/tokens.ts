import { hkdfSync } from 'node:crypto';
import { AppError } from '@acsp/errors';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

/** The tokens that open streams, as JWTs (interface 4.9). Any replica verifies one, after a restart too. */
export interface Tokens {
  sign(grant: Grant): Promise<string>;
  /** Throws INVALID_TOKEN unless the token is ours; one that has expired is told by its time. */
  verify(token: string): Promise<Grant>;
}

export interface Grant {
  /** A UUID. */
  readonly token_id: string;
  readonly aid: string;
  /** When the agent registered: the life that the token belongs to. */
  readonly since: Date;
  readonly expires_at: Date;
}

export const tokenSeconds = 300;

const algorithm = 'HS256';
const claims = z.object({ jti: z.uuid(), sub: z.string(), since: z.number(), exp: z.number() });

/** The keys are derived from the secrets that the services share: all are accepted and the first signs, so that one is replaced without a stop. */
export function createTokens(secrets: readonly string[]): Tokens {
  const keys = secrets.map((secret) => new Uint8Array(hkdfSync('sha256', secret, '', 'acsp event token', 32)));
  const [first = new Uint8Array()] = keys;
  return {
    sign: ({ token_id, aid, since, expires_at }) =>
      new SignJWT({ since: since.getTime() })
        .setProtectedHeader({ alg: algorithm })
        .setJti(token_id)
        .setSubject(aid)
        .setExpirationTime(expires_at)
        .sign(first),
    async verify(token) {
      for (const key of keys) {
        const grant = await open(token, key);
        if (grant !== undefined) return grant;
      }
      throw new AppError('INVALID_TOKEN');
    },
  };
}

/** Undefined where another key has signed it, or none. */
async function open(token: string, key: Uint8Array): Promise<Grant | undefined> {
  try {
    // Expiry is for the caller: a stream that was open may be taken up again with an expired token.
    const { payload } = await jwtVerify(token, key, { algorithms: [algorithm], currentDate: new Date(0) });
    const { jti, sub, since, exp } = claims.parse(payload);
    return { token_id: jti, aid: sub, since: new Date(since), expires_at: new Date(exp * 1000) };
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}
