import { Credential } from '@acsp/contracts/edge/v1/edge';
import type { ErrorCode } from '@acsp/errors';
import type { Sending } from '../harness.js';
import { badCredentials, type Others } from './credentials.js';
import { type Draft, draftOf, withField, write } from './requests.js';
import type { Sample } from './sample.js';
import { gatewayFields, hasAlternative, ownFields, type Target } from './targets.js';
import { bodyValues, deepList, urlValues, type Value } from './values.js';

export interface Case {
  readonly label: string;
  readonly request: string;
  readonly sending: Sending;
  /** Or refused with one of these codes. */
  readonly expected: 'accepted' | 'refused' | readonly ErrorCode[];
}

const maxBodyBytes = 64 * 1024;

const written = (label: string, draft: Draft, expected: Case['expected']): Case => {
  const [request, sending] = write(draft);
  const tooLarge = Buffer.byteLength(sending.body ?? '') > maxBodyBytes;
  return { label, request, sending, expected: tooLarge ? ['PAYLOAD_TOO_LARGE'] : expected };
};

/** The sample as it is. */
export const plainCase = (target: Target, sample: Sample): Case =>
  written('sample', draftOf(target, sample), 'accepted');

/** A value of a field, for any sample. */
export interface FieldValue extends Value {
  readonly name: string;
}

/** Every value of every field that goes into the request, also of one that nobody has heard of. */
export function fieldValues(target: Target, sample: Sample): FieldValue[] {
  const draft = draftOf(target, sample);
  const inUrl = target.http.startsWith('GET');
  const values = [...ownFields(target), ...gatewayFields(target.route)].flatMap((field) => {
    const own = draft.texts[field.name];
    const names = target.route.path.includes(`{${field.name}}`) || sample.naming?.includes(field.name);
    const named = names ? { ...field, accepts: () => false } : field;
    const made = inUrl ? urlValues(named, own ?? '') : bodyValues(field, JSON.parse(own ?? '""'));
    return made.map((value) => ({ ...value, name: field.name })).filter((value) => isNew(target, sample, value, own));
  });
  return inUrl ? values : [...values, ...unknownMembers(draft)];
}

/** Values that are the sample itself, that choose another operation, or that stand in for a signature are no cases. */
function isNew(target: Target, sample: Sample, { name, text, expected }: FieldValue, own: string | undefined): boolean {
  if (text === undefined && hasAlternative(target, sample, name)) return false;
  return expected === 'refused' || (own !== undefined && text !== own);
}

function unknownMembers(draft: Draft): FieldValue[] {
  const member = (name: string, label: string, text: string): FieldValue => ({
    name,
    label,
    text,
    expected: 'accepted',
  });
  const filler = (length: number) => JSON.stringify('x'.repeat(length));
  const room = maxBodyBytes - Buffer.byteLength(write(withField(draft, 'unheard_of', filler(0)))[1].body ?? '');
  return [
    member('unheard_of', '10,000 lists deep', deepList),
    member('unheard_of', 'as much as the body takes', filler(room)),
    member('unheard_of', 'more than the body takes by one', filler(room + 1)),
    member('__proto__', 'at the top', '{"aid":"x","admin":true}'),
  ];
}

export function caseOf(target: Target, sample: Sample, { name, label, text, expected }: FieldValue): Case {
  const draft = draftOf(target, sample);
  return written(`${name}: ${label}`, withField(draft, name, text), expected);
}

/** Every fault of the credential alone. */
export function credentialCases(target: Target, sample: Sample, others: Others): Case[] {
  const draft = draftOf(target, sample);
  const needless = target.route.by.includes(Credential.AID);
  const cases = badCredentials(draft, others)
    .filter(({ codes }) => !(needless && codes.includes('AUTH_REQUIRED')))
    .map(({ label, draft: bad, codes }) => written(label, bad, codes));
  if (target.closedToOthers) {
    const byOther = { ...draft, texts: { ...draft.texts, aid: undefined }, bearer: others.other.loginKey };
    cases.push(written('a task of others', byOther, ['PERMISSION_DENIED', 'NOT_ASSIGNED', 'NOT_TARGET']));
  }
  return cases;
}

/** Every fault of the request as a whole. */
export function requestCases(target: Target, sample: Sample): Case[] {
  const path = target.http.split(' ')[1]?.replace(/\{\w+\}/, 'x');
  const methods = ['PUT', 'DELETE', 'PATCH'].map((method): Case => {
    return { label: method, request: `${method} ${path}`, sending: {}, expected: ['METHOD_NOT_ALLOWED'] };
  });
  return target.http.startsWith('GET') ? methods : [...methods, ...bodyCases(write(draftOf(target, sample)))];
}

function bodyCases([request, { headers, body = '' }]: ReturnType<typeof write>): Case[] {
  const withBody = (text: string): Case => ({
    label: `body ${text.slice(0, 20)}`,
    request,
    sending: { headers, body: text },
    expected: ['INVALID_JSON'],
  });
  const withHeader = (name: string, value: string): Case => ({
    label: `${name}: ${value}`,
    request,
    sending: { headers: { ...headers, [name]: value }, body },
    expected: ['UNSUPPORTED_MEDIA_TYPE'],
  });
  return [
    ...['', '{', '[]', '"x"', 'null', `${body}x`, body.replace('{', '{,'), '['.repeat(10_000)].map(withBody),
    withHeader('content-type', 'text/plain'),
    withHeader('content-encoding', 'gzip'),
  ];
}
