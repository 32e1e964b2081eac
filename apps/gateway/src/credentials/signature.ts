import { isStrongPublicKey, verify } from '@acsp/crypto';
import { AppError } from '@acsp/errors';
import { parseIsoTime } from '@acsp/text';
import type { Context } from '../context.js';
import type { Call, Caller } from '../exchange.js';
import type { SigningKey } from '../keys/keys.js';
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
  const signer = await findSigner(gateway, call, signed);
  const { aid, name, registeredAt, publicKey } = signer;
  if (proof === undefined)
    throw new AppError(rule.missingCode, { fields: [{ field: rule.field, message: 'required' }] });
  const signedAt = checkTime(gateway, call, signed, signer);
  if (!signed.proofs.every(({ bytes, signature }) => verify(publicKey, bytes, signature))) {
    // Under a key that is weak, or no point of the curve, nothing verifies. It costs time to find out, and only here.
    const unusable = rule.signer === 'registration' && !isStrongPublicKey(publicKey);
    throw unusable ? unusableKey(signed.fields) : new AppError('INVALID_SIGNATURE');
  }
  if (call.request.method === 'POST')
    call.signature = { signature: proof.signature, ttlSeconds: ttlOf(gateway, signedAt) };
  return { aid, name, registeredAt, via: 'signature', signedAt };
}

/** Throws unless the timestamp is inside the operation's window, and of the signer's present life. Answers it in milliseconds since 1970. */
function checkTime(
  { clock }: Context,
  { route: { signature: rule } }: Call,
  { fields }: SignedRequest,
  { signedFrom }: SigningKey,
): number | undefined {
  const text = fields[rule.timeField] ?? undefined;
  if (text === undefined && rule.timeOptional) return undefined;
  const time = typeof text === 'string' ? parseIsoTime(text)?.getTime() : undefined;
  const fault = (message: string) => ({ fields: [{ field: rule.timeField, message }] });
  const window = `must be an ISO 8601 date within ${rule.driftSeconds} seconds from now`;
  if (time === undefined) throw new AppError('INVALID_TIMESTAMP', fault(window));
  if (Math.abs(time - clock.now().getTime()) > rule.driftSeconds * 1000)
    throw new AppError(rule.driftCode, fault(window));
  if (time < signedFrom) throw new AppError(rule.driftCode, fault('must not be before the registration'));
  return time;
}

/** For how many seconds a signature must be remembered. */
const ttlOf = ({ clock }: Context, signedAt: number | undefined): number =>
  signedAt === undefined ? untimedTtlSeconds : Math.ceil((signedAt - clock.now().getTime() + rememberMs) / 1000) + 1;
