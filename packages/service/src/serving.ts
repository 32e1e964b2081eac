import type { KeptAnswers } from '@acsp/database';
import { AppError, catalogue, toAppError } from '@acsp/errors';
import {
  type AnyOperations,
  type Operation,
  type Principal,
  type Principals,
  type Route,
  routeOf,
  rpcName,
} from '@acsp/operation';
import { histogram, type Log } from '@acsp/telemetry';
import type { DescMethod, DescService } from '@bufbuild/protobuf';

/** A service as both of its doors see it. */
export interface Serving {
  readonly service: DescService;
  readonly operations: AnyOperations;
  /** Given to every handler. */
  readonly context: unknown;
  readonly answers: KeptAnswers;
  /** True once the tables are there. */
  readonly isMigrated: () => boolean;
  readonly principals: Principals;
  /** Address to listen on. */
  readonly host: string;
  readonly log: Log;
}

/** An operation together with its place in the contract. */
export interface Served {
  readonly desc: DescMethod;
  /** Absent where only services may call it. */
  readonly route: Route | undefined;
  readonly operation: Operation<never, unknown>;
}

/** Every operation by the name of its rpc, `acsp.tasks.v1.TasksService/ClaimTask`. */
export function servedBy({ service, operations }: Serving): ReadonlyMap<string, Served> {
  return new Map(
    service.methods.map((desc) => {
      const operation = operations[desc.localName] as Operation<never, unknown>;
      return [rpcName(desc), { desc, route: routeOf(desc), operation }];
    }),
  );
}

/** A call while it is answered, as far as metrics and logs speak of it. */
export interface Answering {
  readonly door: 'public' | 'contract';
  readonly startedAt: number;
  /** Undefined where no operation was found. */
  desc?: DescMethod;
  caller?: Principal;
}

const durations = histogram('acsp_request_seconds', 'Duration of a call, by door, operation and code', [
  'door',
  'operation',
  'code',
]);

/** `code`: OK, that of an AppError, or CLIENT_GONE where nobody heard the answer. */
export function recordEnd({ door, desc, startedAt }: Answering, code: string): void {
  durations.observe({ door, operation: desc?.name ?? 'none', code }, (performance.now() - startedAt) / 1000);
}

/** Any thrown value as the caller may see it; faults of ours are logged with their cause. */
export function refusal(
  { log, isMigrated }: Pick<Serving, 'log' | 'isMigrated'>,
  { desc, caller }: Answering,
  thrown: unknown,
): AppError {
  const known = toAppError(thrown);
  // A table that is missing is no fault of ours before it is made.
  const early = known.code === 'INTERNAL_ERROR' && !isMigrated();
  const error = early ? new AppError('SERVICE_UNAVAILABLE', { cause: thrown }) : known;
  if (error.cause === undefined || catalogue[error.code].http < 500) return error;
  const fields = { err: error.cause, code: error.code, operation: desc?.name, request_id: caller?.requestId };
  if (error.code !== 'SERVICE_UNAVAILABLE') log.error(fields, 'a call failed');
  else if (isNews(log)) log.error(fields, 'calls fail because a dependency is down');
  return error;
}

const reportMs = 60_000;
const reportedAt = new WeakMap<Log, number>();

/** An outage is one line a minute, not one a call. */
function isNews(log: Log): boolean {
  const now = performance.now();
  if (now - (reportedAt.get(log) ?? Number.NEGATIVE_INFINITY) < reportMs) return false;
  reportedAt.set(log, now);
  return true;
}
