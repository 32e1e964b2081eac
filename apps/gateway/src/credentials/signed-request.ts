import { signedBody, signedTarget } from '@acsp/crypto';
import type { Fields } from '@acsp/operation';
import { bytesOf, fieldsOf } from '../body.js';
import type { Call } from '../exchange.js';

export interface Proof {
  /** Lower-case hex, or whatever stood in its place. */
  readonly signature: string;
  /** The bytes that it has to be over. */
  readonly bytes: Buffer;
}

export interface SignedRequest {
  readonly fields: Fields;
  /** Each must verify; none when the request is not signed. */
  readonly proofs: readonly Proof[];
}

/** The signatures of a request and the bytes they are over: of a GET in the query, of a POST in the body or in `X-Signature`. */
export async function readProofs(call: Call): Promise<SignedRequest> {
  const { request, route, target } = call;
  const fields = await fieldsOf(call, route.maxBodyBytes);
  if (request.method === 'POST') {
    const raw = await bytesOf(call, route.maxBodyBytes);
    return { fields, proofs: proofsOfBody(raw, fields, request.headers['x-signature'] as string | undefined) };
  }
  const { signature, bytes } = signedTarget(target, route.signature.field as 'signature' | 'sig');
  return { fields, proofs: signature === undefined ? [] : [{ signature, bytes }] };
}

function proofsOfBody(raw: Buffer, fields: Fields, header: string | undefined): Proof[] {
  const member = signedBody(raw);
  const proofs: Proof[] = [];
  if ((fields.signature ?? null) !== null) proofs.push({ signature: member.signature ?? '', bytes: member.bytes });
  const inHeader = header?.trim().toLowerCase();
  if (inHeader !== undefined && inHeader !== member.signature) proofs.push({ signature: inHeader, bytes: raw });
  return proofs;
}
