import { isStrongPublicKey, verify } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { parseIsoTime } from '@acsp/text';
import type { Context } from '../context.js';
import type { Call, Caller } from '../exchange.js';
import { readProofs, type SignedRequest } from './signed-request.js';
import { findSigner, unusableKey } from './signer.js';

/** A signature is remembered for as long as some operation would take its timestamp, whichever operation it came with. */
const rememberMs = 300_000;
const untimedTtlSeconds = 24 * 60 * 60;

/** An Ed25519 signature over the request's exact bytes, by the key of the agent that the request names (decisions, section 2). */
export async function bySignature(gateway: Context, call: Call): Promise<Caller | undefined> {
  const { signature: rule } = call.route;
  const signed = await readProofs(call);
  const [proof] = signed.proofs;
  if (proof === undefined && rule.missingCode === 'AUTH_REQUIRED') return undefined;
  const { aid, name, registeredAt, publicKey } = await findSigner(gateway, call, signed);
  if (proof === undefined)
    throw new AppError(rule.missingCode, { fields: [{ field: rule.field, message: 'required' }] });
  const ttlSeconds = checkTime(gateway, call, signed);
  if (!signed.proofs.every(({ bytes, signature }) => verify(publicKey, bytes, signature))) {
    // Under a key that is weak, or no point of the curve, nothing verifies. It costs time to find out, and only here.
    const unusable = rule.signer === 'registration' && !isStrongPublicKey(publicKey);
    throw unusable ? unusableKey(signed.fields) : new AppError('INVALID_SIGNATURE');
  }
  if (call.request.method === 'POST') call.signature = { signature: proof.signature, ttlSeconds };
  return { aid, name, registeredAt, via: 'signature' };
}

/** Throws unless the timestamp is inside the operation's window; answers for how many seconds the signature must be remembered. */
function checkTime({ clock }: Context, { route: { signature: rule } }: Call, { fields }: SignedRequest): number {
  const text = fields[rule.timeField] ?? undefined;
  if (text === undefined && rule.timeOptional) return untimedTtlSeconds;
  const time = typeof text === 'string' ? parseIsoTime(text) : undefined;
  const message = `must be an ISO 8601 date within ${rule.driftSeconds} seconds from now`;
  const fault = { fields: [{ field: rule.timeField, message }] };
  if (time === undefined) throw new AppError('INVALID_TIMESTAMP', fault);
  const aheadMs = time.getTime() - clock.now().getTime();
  if (Math.abs(aheadMs) > rule.driftSeconds * 1000) throw new AppError(rule.driftCode, fault);
  return Math.ceil((aheadMs + rememberMs) / 1000) + 1;
}
