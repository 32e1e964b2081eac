import { createHash } from 'node:crypto';
import { AppError } from '@acsp/errors';
import { bytesOf } from './body.js';
import type { Call } from './exchange.js';
import type { Gateway } from './gateway.js';
import type { WholeAnswer } from './upstream/answer.js';

const keepSeconds = 24 * 60 * 60;
/** Longer than a service may take; a gateway that dies in the middle blocks the key no longer than this. */
const runSeconds = 60;
const maxKeptBytes = 256 * 1024;

/** What the store holds under a key: which request it was, and its answer once there is one. */
interface Entry {
  readonly print: string;
  readonly answer?: Omit<WholeAnswer, 'body'> & { readonly body: string };
}

/** Whether the request carries a key, and one has a meaning here. */
export const hasKey = ({ request, route }: Call): boolean =>
  request.headers['idempotency-key'] !== undefined && request.method === 'POST' && !route.secret;

/** Throws INVALID_FIELD for a key that is too long or not printable. */
function keyOf({ request }: Call): string {
  const key = String(request.headers['idempotency-key']);
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new AppError('INVALID_FIELD', {
    fields: [{ field: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }],
  });
}

/**
 * Runs a request once for its caller and key; its repetitions get the first answer. The answer is kept before it is sent, and the request
 * runs to its end even if the caller goes away: coming back after a lost connection is what keys are for. Answers from 500 on are not kept.
 */
export async function answerOnce(gateway: Gateway, call: Call, send: () => Promise<WholeAnswer>): Promise<WholeAnswer> {
  const { store } = gateway;
  const place = `answer:${digest(callerOf(call), keyOf(call))}`;
  const print = digest(call.request.method ?? '', call.target, await bytesOf(call, call.route.maxBodyBytes));
  const first = await store.add(place, JSON.stringify({ print } satisfies Entry), runSeconds);
  if (!first) return repeat(call, print, await store.get(place));

  let kept = false;
  try {
    const answer = await send();
    kept = answer.statusCode < 500 && answer.body.length <= maxKeptBytes;
    const entry: Entry = { print, answer: { ...answer, body: answer.body.toString('base64') } };
    if (kept) await store.set(place, JSON.stringify(entry), keepSeconds);
    return answer;
  } finally {
    if (!kept) await store.delete(place);
  }
}

function repeat({ headers }: Call, print: string, text: string | undefined): WholeAnswer {
  const entry = text === undefined ? undefined : (JSON.parse(text) as Entry);
  if (entry !== undefined && entry.print !== print) throw new AppError('IDEMPOTENCY_KEY_REUSED');
  if (entry?.answer === undefined) throw new AppError('IDEMPOTENCY_IN_PROGRESS', { retryAfterSeconds: 1 });
  headers['Idempotency-Replayed'] = 'true';
  return { ...entry.answer, body: Buffer.from(entry.answer.body, 'base64') };
}

/** Keys of callers whom nothing proves are told apart by address. */
const callerOf = ({ caller, address }: Call) => (caller?.via === 'aid' ? address : (caller?.aid ?? address));

/** Parts are told apart by their lengths. */
function digest(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('base64url');
}
