import type { Field } from './fields.js';

/** A value of one field as JSON text; without text the field is left out. */
export interface Value {
  readonly label: string;
  readonly text: string | undefined;
  readonly expected: 'refused' | 'accepted';
}

const depth = 10_000;
export const deepList = '['.repeat(depth) + ']'.repeat(depth);
const deepObject = '{"a":'.repeat(depth) + 1 + '}'.repeat(depth);

const refused = (label: string, text: string): Value => ({ label, text, expected: 'refused' });
const judged = (label: string, text: string, accepted: boolean): Value => ({
  label,
  text,
  expected: accepted ? 'accepted' : 'refused',
});

/** Everything that a field of a JSON body must withstand, made from what its schema says and from a value that it takes. */
export function bodyValues(field: Field, sample: unknown): Value[] {
  return [
    { label: 'missing', text: undefined, expected: field.required ? 'refused' : 'accepted' },
    judged('null', 'null', !field.required),
    ...wrongTypes(field),
    refused('10,000 lists deep', deepList),
    refused('10,000 objects deep', deepObject),
    refused('__proto__', '{"__proto__":{"admin":true}}'),
    ...ofKind[field.kind](field, sample),
  ];
}

/** The same for a parameter of the query or the path, which is always text: the values are not JSON, but as a URL has them. */
export function urlValues(field: Field, sample: string): Value[] {
  const { kind, json, required } = field;
  const { minimum = 0, maximum = 0 } = json;
  /** Texts of any kind take what is no value of another type; a broken escape is one of them. */
  const takes = (text: string) =>
    json.enum?.includes(text) || (isFreeText(field) && field.accepts(new URLSearchParams(`x=${text}`).get('x')));
  const limits = kind === 'integer' && [
    ...[minimum, maximum].map((value) => judged('at the limit', String(value), true)),
    ...[minimum - 1, maximum + 1].map((value) => refused('beyond the limit', String(value))),
  ];
  return [
    { label: 'missing', text: undefined, expected: required ? 'refused' : 'accepted' },
    ...['', '%20', 'null', 'true', '1.5', '[]', '%7B%22a%22%3A1%7D', '__proto__', 'constructor'].map((text) =>
      judged(`"${text}"`, text, takes(text)),
    ),
    refused('NUL', `${sample}%00`),
    judged('unpaired surrogate', `${sample}%ED%A0%80`, takes(`${sample}%ED%A0%80`)),
    judged('broken escape', `${sample}%E0%A4%A`, takes(`${sample}%E0%A4%A`)),
    refused('much too long', sample + 'x'.repeat(5_000)),
    ...(limits || []),
  ];
}

const isFreeText = ({ kind, json }: Field) => kind === 'text' && json.enum === undefined && json.pattern === undefined;

/** Any whole number is a number too. */
const fits = (other: string, kind: Field['kind']) => other === kind || (other === 'integer' && kind === 'number');

const plain = { text: '"x"', integer: '7', boolean: 'true', list: '["x"]', object: '{"a":1}' };

const wrongTypes = ({ kind }: Field): Value[] =>
  Object.entries(plain).flatMap(([other, text]) => (fits(other, kind) ? [] : refused(`a ${other}`, text)));

const ofKind: Record<Field['kind'], (field: Field, sample: unknown) => Value[]> = {
  text: (field, sample) => textValues(field.accepts, String(sample), permitsEmpty(field)),

  integer: ({ json: { minimum = 0, maximum = 0 } }) => [
    ...[minimum, maximum].map((value) => judged('at the limit', String(value), true)),
    ...[minimum - 1, maximum + 1, 1.5].map((value) => refused(`${value}`, String(value))),
    refused('beyond a double', '1e400'),
  ],

  number: ({ json }) => {
    const [above, most] = [Number(json.exclusiveMinimum), Number(json.maximum)];
    return [
      ...[above + 0.5, most].map((value) => judged('inside the limits', String(value), true)),
      ...[above, above - 1, most + 1].map((value) => refused(`${value}`, String(value))),
      refused('beyond a double', '1e400'),
    ];
  },

  boolean: ({ json }) => judgedByConstant(json),

  list: (field, sample) => {
    const [item] = sample as string[];
    const { minItems = 0, maxItems = 0 } = field.json;
    const another = (i: number) => (field.accepts([`${item} ${i}`]) ? `${item} ${i}` : item);
    const items = (count: number) => JSON.stringify(Array.from({ length: count }, (_, i) => another(i)));
    const ofItem = textValues((value) => field.accepts([value]), String(item), false);
    return [
      judged('empty', '[]', minItems === 0),
      judged('as many as it takes', items(maxItems), true),
      refused('one too many', items(maxItems + 1)),
      ...ofItem.map((value) => ({ ...value, label: `item ${value.label}`, text: `[${value.text}]` })),
      ...['null', '7', '{}', '["x"]'].map((text) => refused(`item ${text}`, `[${text}]`)),
    ];
  },

  object: (field) => {
    const filled = (length: number) => ({ filler: 'x'.repeat(length) });
    const room = roomFor((length) => field.accepts(filled(length)));
    const levels = (count: number) => `${'{"a":'.repeat(count - 1)}{}${'}'.repeat(count - 1)}`;
    return [
      judged('empty', '{}', true),
      judged('at the limit', JSON.stringify(filled(room)), true),
      refused('too large by one', JSON.stringify(filled(room + 1))),
      judged('16 levels', levels(16), true),
      refused('17 levels', levels(17)),
      refused('NUL', JSON.stringify({ a: ['\0'] })),
      refused('NUL in a name', JSON.stringify({ '\0': 1 })),
      refused('unpaired surrogate', '{"a":"\\ud800"}'),
      refused('unpaired surrogate in a name', '{"\\udc00":1}'),
      refused('beyond a double', '{"a":1e400}'),
      refused('__proto__ further in', '{"a":[{"__proto__":1}]}'),
    ];
  },
};

function textValues(accepts: (value: string) => boolean, sample: string, mayBeEmpty: boolean): Value[] {
  const room = roomFor((length) => accepts(sample + 'x'.repeat(length)));
  const emoji = sample + '😀'.repeat(room);
  const wide = room > 0 ? [judged('at the limit in code points', JSON.stringify(emoji), accepts(emoji))] : [];
  return [
    judged('empty', '""', mayBeEmpty),
    refused('blank', '" \\n\\t "'),
    refused('with NUL', JSON.stringify(`${sample}\0`)),
    refused('with an unpaired surrogate', `${JSON.stringify(sample).slice(0, -1)}\\ud800"`),
    refused('with surrogates the wrong way round', `${JSON.stringify(sample).slice(0, -1)}\\udc00\\ud800"`),
    judged('at the limit', JSON.stringify(sample + 'x'.repeat(room)), true),
    ...wide,
    refused('too long by one', JSON.stringify(sample + 'x'.repeat(room + 1))),
  ];
}

const permitsEmpty = ({ json: { anyOf = [] } }: Field) =>
  anyOf.some((option) => (option as Field['json']).const === '');

const judgedByConstant = ({ const: constant }: Field['json']): Value[] =>
  ['true', 'false'].map((text) => judged(text, text, constant === undefined || String(constant) === text));

const maxRoom = 200_000;

/** The largest length that fits, where shorter ones fit too. */
function roomFor(fits: (length: number) => boolean): number {
  let high = 1;
  while (fits(high)) {
    if (high > maxRoom) throw new Error('a field without a limit');
    high *= 2;
  }
  let low = high >> 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}
