import type { ErrorCode } from '@acsp/errors';
import type { Sending } from '../harness.js';
import { badCredentials, type Others } from './credentials.js';
import { type Draft, draftOf, withField, write } from './requests.js';
import type { Sample } from './samples.js';
import { gatewayFields, hasAlternative, routeOf, type Target } from './targets.js';
import { bodyValues, urlValues } from './values.js';

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
  written('sample', draftOf(target, routeOf(target, sample), sample), 'accepted');

/** Every field with every value, and every fault of a body as a whole. */
export function fieldCases(target: Target, sample: Sample): Case[] {
  const route = routeOf(target, sample);
  const inUrl = target.http.startsWith('GET');
  const ofFields = [...target.fields, ...gatewayFields(route)].flatMap((field) => {
    const own = draftOf(target, route, sample).texts[field.name];
    const values = inUrl ? urlValues(field, own ?? '') : bodyValues(field, JSON.parse(own ?? '""'));
    return (
      values
        .filter(({ text }) => text !== undefined || !hasAlternative(target, sample, field.name))
        // The signature has no value in the sample: it belongs to what it signs.
        .filter(({ expected }) => own !== undefined || expected === 'refused')
        .map(({ label, text, expected }) =>
          written(`${field.name}: ${label}`, withField(draftOf(target, route, sample), field.name, text), expected),
        )
    );
  });
  return [...ofFields, ...methodCases(target), ...(inUrl ? [] : bodyCases(target, sample))];
}

/** Every fault of the credential alone. */
export function credentialCases(target: Target, sample: Sample, others: Others): Case[] {
  const draft = draftOf(target, routeOf(target, sample), sample);
  const cases = badCredentials(draft, others).map(({ label, draft: bad, codes }) => written(label, bad, codes));
  if (target.closedToOthers) {
    const byOther = { ...draft, texts: { ...draft.texts, aid: undefined }, bearer: others.other.loginKey };
    cases.push(written('a task of others', byOther, ['PERMISSION_DENIED', 'NOT_ASSIGNED', 'NOT_TARGET']));
  }
  return cases;
}

function bodyCases(target: Target, sample: Sample): Case[] {
  const draft = draftOf(target, routeOf(target, sample), sample);
  const [request, sending] = write(draft);
  const { headers, body = '' } = sending;
  const unknown = (label: string, name: string, text: string) =>
    written(label, withField(draftOf(target, routeOf(target, sample), sample), name, text), 'accepted');
  const json = (label: string, text: string): Case => ({
    label,
    request,
    sending: { headers, body: text },
    expected: ['INVALID_JSON'],
  });
  const withHeader = (name: string, value: string, code: ErrorCode): Case => ({
    label: `${name}: ${value}`,
    request,
    sending: { headers: { ...headers, [name]: value }, body },
    expected: [code],
  });
  // White space behind the object is signed with the rest, and was not there when the sample was signed.
  const atLimit = draft.privateKey === undefined ? 'accepted' : (['INVALID_SIGNATURE'] as const);
  return [
    ...['', '{', '[]', '"x"', 'null', `${body}x`, body.replace('{', '{,')].map((text) =>
      json(`body ${text.slice(0, 20)}`, text),
    ),
    json('body of 10,000 lists', '['.repeat(10_000)),
    withHeader('content-type', 'text/plain', 'UNSUPPORTED_MEDIA_TYPE'),
    withHeader('content-encoding', 'gzip', 'UNSUPPORTED_MEDIA_TYPE'),
    {
      label: 'body too large by one',
      request,
      sending: { headers, body: body.padEnd(maxBodyBytes + 1) },
      expected: ['PAYLOAD_TOO_LARGE'],
    },
    { label: 'body at the limit', request, sending: { headers, body: body.padEnd(maxBodyBytes) }, expected: atLimit },
    unknown('an unknown member', 'unheard_of', '7'),
    unknown('an unknown member, 10,000 lists deep', 'unheard_of', '['.repeat(10_000) + ']'.repeat(10_000)),
    unknown('a member named __proto__', '__proto__', '{"aid":"x","admin":true}'),
  ];
}

function methodCases({ http }: Target): Case[] {
  const path = http.split(' ')[1]?.replace(/\{\w+\}/, 'x');
  return ['PUT', 'DELETE', 'PATCH'].map((method) => ({
    label: method,
    request: `${method} ${path}`,
    sending: {},
    expected: ['METHOD_NOT_ALLOWED'],
  }));
}
