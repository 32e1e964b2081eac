import { AppError, type ErrorCode, type FieldError, isErrorCode } from '@acsp/errors';
import type { z } from 'zod';
import type { Fields } from './codec.js';
import type { Call, Operation } from './operation.js';
import type { Route } from './surface.js';

/**
 * One call of an operation, whichever door it came through: caller allowed (401, 403), fields (400), the caller's own AID (403), handler.
 * Members that are null count as absent. An operation without a route is for services alone.
 */
export function perform<Output>(
  operation: Operation<never, Output>,
  route: Route | undefined,
  { context, fields, call }: { readonly context: unknown; readonly fields: Fields; readonly call: Call },
): Output {
  const { caller } = call;
  if (operation.callers === 'agents' && caller.aid === undefined) throw new AppError('AUTH_REQUIRED');
  if (route === undefined && caller.via !== 'service') throw new AppError('PERMISSION_DENIED');
  const input = parseFields(operation.input, fields) as Fields;
  if (operation.callers === 'agents') {
    for (const name of route?.signature.aid ?? []) {
      if (typeof input[name] === 'string' && input[name] !== caller.aid) throw new AppError('AID_MISMATCH');
    }
  }
  return operation.handle(context as never, input as never, caller, call);
}

/** Throws the code of the first refused field, with all of them listed. */
export function parseFields<Output>(schema: z.ZodType<Output>, fields: Fields): Output {
  const result = schema.safeParse(withoutNulls(fields), { reportInput: true });
  if (result.success) return result.data;
  throw invalidFields(result.error.issues);
}

function withoutNulls(fields: Fields): Fields {
  for (const value of Object.values(fields)) {
    if (value === null) return Object.fromEntries(Object.entries(fields).filter(([, member]) => member !== null));
  }
  return fields;
}

/** Schemas put an error code where zod puts its message (see fields.ts); any other message is zod's own. */
function invalidFields(issues: readonly z.core.$ZodIssue[]): AppError {
  const first = issues[0]?.message ?? '';
  const code: ErrorCode = isErrorCode(first) ? first : 'INVALID_FIELD';
  // A rule about the whole input has no field to name.
  return new AppError(code, { fields: issues.filter(({ path }) => path.length > 0).map(toFieldError) });
}

function toFieldError(issue: z.core.$ZodIssue): FieldError {
  return { field: issue.path.join('.'), message: isErrorCode(issue.message) ? describe(issue) : issue.message };
}

function describe(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'required' : `must be ${withArticle(issue.expected)}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'too_small':
      return `at least ${issue.minimum}`;
    case 'invalid_value':
      return `one of ${issue.values.join(', ')}`;
    case 'custom':
      return typeof issue.params?.detail === 'string' ? issue.params.detail : 'invalid';
    default:
      return 'invalid';
  }
}

const withArticle = (type: string): string =>
  type === 'int' ? 'an integer' : `${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`;
