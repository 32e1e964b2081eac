import { AppError, type ErrorCode, type FieldError, isErrorCode } from '@acsp/errors';
import type { DescService } from '@bufbuild/protobuf';
import type { z } from 'zod';
import type { AnyOperation, Fields } from './operation.js';
import type { Principal, Principals } from './principal.js';

/** What a service gives to both of its doors. */
export interface Serving {
  readonly service: DescService;
  /** A row for every rpc of the service: an `Operations` table. */
  readonly operations: Record<string, AnyOperation>;
  /** Given to every handler. */
  readonly context: unknown;
  /** Called when an operation that may have written is done: wakes the outbox relay. */
  readonly afterWrite?: () => void;
  readonly principals: Principals;
  /** Address to listen on. */
  readonly host: string;
  readonly log: { error(fields: object, message: string): void };
}

/**
 * One call of an operation, whichever door it came through: caller allowed (401, 403), fields (400), the caller's own AID (403), handler.
 * Members that are null count as absent.
 */
export async function perform(
  operation: AnyOperation,
  { context, afterWrite }: Serving,
  fields: Fields,
  caller: Principal,
) {
  if (operation.caller === 'agent' && (caller.aid === undefined || caller.via === 'aid'))
    throw new AppError('AUTH_REQUIRED');
  if (operation.caller === 'service' && caller.via !== 'service') throw new AppError('PERMISSION_DENIED');
  const request = parseFields(operation.input, fields);
  if (operation.caller === 'agent' && typeof request?.aid === 'string' && request.aid !== caller.aid) {
    throw new AppError('AID_MISMATCH');
  }
  const answer = await operation.handle(context, request, caller);
  if (operation.writes) afterWrite?.();
  return answer;
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

/** Schemas put an error code where zod puts its message (see the fields of `@acsp/http`); any other message is zod's own. */
function invalidFields(issues: readonly z.core.$ZodIssue[]): AppError {
  const first = issues[0]?.message ?? '';
  const code: ErrorCode = isErrorCode(first) ? first : 'INVALID_FIELD';
  return new AppError(code, { fields: issues.map(toFieldError) });
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
