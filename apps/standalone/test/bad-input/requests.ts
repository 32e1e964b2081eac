import { sign } from '@acsp/crypto';
import { type Sending, signedTarget } from '../harness.js';
import type { Sample } from './sample.js';
import { proofOf, type Target } from './targets.js';

/** A request before it is written out: each field as JSON text, or as a URL has it. */
export interface Draft {
  readonly target: Target;
  readonly texts: Readonly<Record<string, string | undefined>>;
  /** The value of `Authorization`. */
  readonly bearer?: string;
  /** Signs it. */
  readonly privateKey?: string;
  /** JSON text in place of the true signature; null leaves it out. */
  readonly signature?: string | null;
}

let ahead = 0;

/** The sample as a draft, with the credential that belongs to it. */
export function draftOf(target: Target, { fields, agent }: Sample): Draft {
  const inUrl = target.http.startsWith('GET');
  const texts = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, inUrl ? String(value) : JSON.stringify(value)]),
  );
  const draft = { target, texts };
  switch (proofOf(target.route)) {
    case 'signature':
      // A millisecond later each time: a signature is good only once.
      ahead += 1;
      return withTime({ ...draft, privateKey: agent?.privateKey }, ahead);
    case 'login_key_body':
      return { ...draft, texts: { ...texts, login_key: JSON.stringify(agent?.loginKey) } };
    case 'login_key':
    case 'internal_token':
      return { ...draft, bearer: agent?.loginKey };
    case 'none':
      return draft;
  }
}

const isGet = ({ http }: Target) => http.startsWith('GET');

/** The draft with the time of its signature, so far from now. */
export function withTime(draft: Draft, offsetMs: number): Draft {
  const time = new Date(Date.now() + offsetMs).toISOString();
  return withField(draft, draft.target.route.signature.timeField, isGet(draft.target) ? time : JSON.stringify(time));
}

/** The draft with another text in place of its signature. */
export const withSignature = (draft: Draft, text: string): Draft => ({
  ...draft,
  signature: isGet(draft.target) ? text : JSON.stringify(text),
});

/** The draft with another text of one field. */
export function withField(draft: Draft, name: string, text: string | undefined): Draft {
  if (name === draft.target.route.signature.field) return { ...draft, signature: text ?? null };
  return { ...draft, texts: { ...draft.texts, [name]: text } };
}

/** A request as it goes over the wire. */
export function write({ target, texts, bearer, privateKey, signature }: Draft): [request: string, sending: Sending] {
  const { http, route } = target;
  const headers: Record<string, string> = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const members = Object.entries(texts).filter((member): member is [string, string] => member[1] !== undefined);
  const isSigned = privateKey !== undefined && signature !== null;
  if (isGet(target)) {
    const plain = toTarget(http.slice('GET '.length), members);
    const full = isSigned ? signedTarget({ privateKey }, plain, route.signature.field, signature) : plain;
    return [`GET ${full}`, { headers }];
  }
  const body = `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  return [http, { headers, body: isSigned ? signedBody(body, privateKey, signature) : body }];
}

function signedBody(
  body: string,
  privateKey: string,
  text = JSON.stringify(sign(privateKey, Buffer.from(body))),
): string {
  return `${body.slice(0, -1)}${body === '{}' ? '' : ','}"signature":${text}}`;
}

function toTarget(http: string, members: readonly (readonly [string, string])[]): string {
  let path = http;
  const query: string[] = [];
  for (const [name, text] of members) {
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, text);
    else query.push(`${name}=${text}`);
  }
  return `${path.replace(/\{\w+\}/, '')}${query.length > 0 ? '?' : ''}${query.join('&')}`;
}
