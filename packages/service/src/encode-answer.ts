import { type KeptAnswer, type Reply, type Route, toJson } from '@acsp/operation';

/** Status and body of an answer, as its route has them. */
export function encode(route: Route, reply: Reply, output: unknown) {
  return { status: reply.status ?? route.status, body: encoded.get(output as object) ?? bodyOf(route, output) };
}

/** Texts of answers that many requests share, which handlers have frozen. */
const encoded = new WeakMap<object, string | Uint8Array>();
/** A connection that is slower than its answer holds a copy of a text; of bytes all connections hold the same ones. */
const bytesFrom = 65_536;

function bodyOf({ desc, answer }: Route, output: unknown): string | Uint8Array {
  const json = toJson(desc.output, output);
  const body = answer === undefined ? json : json[answer];
  if (body instanceof Uint8Array) return body;
  const text = JSON.stringify(body);
  if (!Object.isFrozen(output)) return text;
  const shared = text.length < bytesFrom ? text : Buffer.from(text);
  encoded.set(output as object, shared);
  return shared;
}

/** The same as it is kept under an Idempotency-Key. */
export const textOf = ({ status, body }: ReturnType<typeof encode>): KeptAnswer => ({
  status,
  body: typeof body === 'string' ? body : Buffer.from(body).toString(),
});
