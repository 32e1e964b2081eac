import type { KeptAnswers } from '@acsp/database';
import { type AppError, catalogue, toAppError } from '@acsp/errors';
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

/** What a service gives to both of its doors. */
export interface Serving {
  readonly service: DescService;
  readonly operations: AnyOperations;
  /** Given to every handler. */
  readonly context: unknown;
  readonly answers: KeptAnswers;
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

const durations = histogram('acsp_request_seconds', 'Duration of a call, by door, operation and code', [
  'door',
  'operation',
  'code',
]);

export interface Ended {
  readonly door: 'public' | 'contract';
  /** Undefined where no operation was found. */
  readonly desc: DescMethod | undefined;
  readonly startedAt: number;
}

export function recordEnd({ door, desc, startedAt }: Ended, code: string): void {
  durations.observe({ door, operation: desc?.name ?? 'none', code }, (performance.now() - startedAt) / 1000);
}

/** Any thrown value as the caller may see it; faults of ours are logged with their cause. */
export function refusal(log: Log, { desc }: Ended, thrown: unknown, caller?: Pick<Principal, 'requestId'>): AppError {
  const error = toAppError(thrown);
  if (error.cause !== undefined && catalogue[error.code].http >= 500) {
    const fields = { err: error.cause, code: error.code, operation: desc?.name, request_id: caller?.requestId };
    log.error(fields, 'a call failed');
  }
  return error;
}
