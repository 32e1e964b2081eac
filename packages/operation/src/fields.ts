import type { ErrorCode } from '@acsp/errors';
import { cleanText, codePointLength, isBlank, jsonFault, nameFault, parseIsoTime, textFault } from '@acsp/text';
import type { JsonObject } from '@bufbuild/protobuf';
import { z } from 'zod';

// The fields of the API. Each puts the error code of the interface where zod puts its message; `parseFields` reads it there.

/** `missing` is the code of absence, `code` that of every other fault; one alone serves for both. */
interface Codes {
  readonly code?: ErrorCode;
  readonly missing?: ErrorCode;
}

const codesOf = ({ code = 'INVALID_FIELD', missing = code }: Codes) => ({
  code,
  error: (issue: { readonly input?: unknown }) => (issue.input === undefined ? missing : code),
});

type Refine<T> = z.core.$RefinementCtx<T>;

function refuse<T>(context: Refine<T>, message: ErrorCode, detail: string): typeof z.NEVER {
  context.issues.push({ code: 'custom', message, input: context.value, params: { detail } });
  return z.NEVER;
}

export interface TextRule extends Codes {
  /** In Unicode code points. */
  readonly max: number;
  /** Takes markup out, as in the texts of tasks. */
  readonly clean?: boolean;
  /** The code of a text without a visible character; `code` when absent. */
  readonly blank?: ErrorCode;
}

/** Text of 1 to `max` code points with a visible one among them, free of NUL and unpaired surrogates; otherwise kept to the letter. */
export function text(rule: TextRule) {
  const { code, error } = codesOf(rule);
  return z.string({ error }).transform((value, context) => {
    const fault = textFault(value);
    if (fault !== undefined)
      return refuse(context, code, fault === 'nul' ? 'must not contain NUL' : 'must not contain unpaired surrogates');
    if (codePointLength(value) > rule.max) return refuse(context, code, `at most ${rule.max} characters`);
    const kept = rule.clean ? cleanText(value) : value;
    return isBlank(kept) ? refuse(context, rule.blank ?? code, 'must not be empty') : kept;
  });
}

/** A text that stands for somebody or something: on one line, and written in the direction in which it is read. */
export const name = (rule: TextRule) =>
  text(rule).transform((value, context) => {
    const fault = nameFault(value);
    return fault === undefined ? value : refuse(context, codesOf(rule).code, fault);
  });

/** An agent identity: 50 lowercase hex characters. */
export const aid = (codes: Codes = { code: 'INVALID_AID' }) => {
  const { code, error } = codesOf(codes);
  return z.string({ error }).regex(/^[0-9a-f]{50}$/, code);
};

/** The caller's own AID, which its credential names already: another one than that is AID_MISMATCH. */
export const callerAid = aid().optional();

/** A UUID of any version, in lower case afterwards. */
export const uuid = (code: ErrorCode, missing: ErrorCode = code) =>
  z
    .string(codesOf({ code, missing }))
    .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, code)
    .toLowerCase();

export interface ListRule extends Codes {
  readonly min?: number;
  readonly max: number;
  /** The limit of one item, in code points. */
  readonly maxLength: number;
  /** Takes markup out of the items. */
  readonly clean?: boolean;
}

/** A list of texts. */
export function textList({ min = 0, max, maxLength, clean, ...codes }: ListRule) {
  const { code, error } = codesOf(codes);
  return z
    .array(text({ code, max: maxLength, clean }), { error })
    .min(min, code)
    .max(max, code);
}

/** A JSON object of at most `maxBytes` in compact form and 16 levels. */
export function jsonObject({ maxBytes, ...codes }: Codes & { readonly maxBytes: number }) {
  const { code, missing = code } = { code: 'INVALID_FIELD' as ErrorCode, ...codes };
  return z.unknown().transform((value, context): JsonObject => {
    const fault = jsonFault(value, { maxBytes, maxDepth: 16 });
    return fault === undefined ? (value as JsonObject) : refuse(context, value === undefined ? missing : code, fault);
  });
}

/** The `metadata` that nearly every resource carries. */
export const metadata = () => jsonObject({ code: 'INVALID_METADATA', maxBytes: 4096 });

export const integer = (min: number, max: number, code: ErrorCode = 'INVALID_FIELD') =>
  z.int(code).min(min, code).max(max, code);

/** An integer of a query string. */
export const queryInteger = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : value),
    integer(min, max),
  );

export const oneOf = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  code: ErrorCode = 'INVALID_FIELD',
  missing: ErrorCode = code,
) => z.enum(values, codesOf({ code, missing }));

/** An ISO 8601 date-time; over gRPC a time already. */
export const time = (codes: Codes) => {
  const { code, error } = codesOf(codes);
  const text = z.string({ error }).transform((value, context): Date => {
    const date = parseIsoTime(value);
    return date ?? refuse(context, code, 'must be an ISO 8601 date');
  });
  return z.preprocess((value) => (isDate(value) ? value.toISOString() : value), text);
};

const isDate = (value: unknown): value is Date => value instanceof Date && !Number.isNaN(value.getTime());
