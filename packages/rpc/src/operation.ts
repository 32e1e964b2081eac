import type { MessageInitShape } from '@bufbuild/protobuf';
import type { GenService, GenServiceMethods } from '@bufbuild/protobuf/codegenv2';
import type { z } from 'zod';
import type { Agent, Principal } from './principal.js';

/** The named members of a request as they came in: a JSON body, a query and path parameters, or a message as public JSON. */
export type Fields = Record<string, unknown>;

/** Whether any of these fields is there, for `when`. Null counts as absent. */
export const given =
  (...names: string[]) =>
  (fields: Fields): boolean =>
    names.some((name) => fields[name] !== undefined && fields[name] !== null);

/** One operation of a service, served by both doors. */
export interface Operation<Context, Input, Output> {
  /** `METHOD /path`, parameters in braces; absent on operations that only services call. */
  readonly http?: string;
  /** Where two operations share a path: whether these fields are meant for this one. The first that says yes serves. */
  readonly when?: (fields: Fields) => boolean;
  /** HTTP status of success. */
  readonly status: number;
  /** Whether it may leave an event in the outbox. */
  readonly writes: boolean;
  /** `agent`: the caller is known, and the field `aid`, if given, must be its own. `service`: only other services, by gRPC. */
  readonly caller: 'agent' | 'anyone' | 'service';
  readonly input: z.ZodType<Input>;
  handle(context: Context, request: Input, caller: Principal): Promise<Output>;
}

/** A row for every rpc of a service, so that a missing or drifted one fails to compile. */
export type Operations<Service, Context> =
  Service extends GenService<infer Methods extends GenServiceMethods>
    ? {
        readonly [Name in keyof Methods]: Operation<
          Context,
          MessageInitShape<Methods[Name]['input']>,
          MessageInitShape<Methods[Name]['output']>
        >;
      }
    : never;

// biome-ignore lint/suspicious/noExplicitAny: the doors walk tables of operations whose types the table itself has checked.
export type AnyOperation = Operation<any, any, any>;

interface Options {
  /** 200 when absent. */
  readonly status?: number;
  readonly when?: (fields: Fields) => boolean;
  /** By the method when absent: a GET does not. */
  readonly writes?: boolean;
}

/** An operation that a known agent calls for itself. */
export function byAgent<Context, Input, Output>(
  http: string,
  input: z.ZodType<Input>,
  handle: (context: Context, request: Input, caller: Agent) => Promise<Output>,
  options?: Options,
): Operation<Context, Input, Output> {
  const open = byAnyone(http, input, handle as Operation<Context, Input, Output>['handle'], options);
  return { ...open, caller: 'agent' };
}

/** An operation that needs no known caller. */
export function byAnyone<Context, Input, Output>(
  http: string,
  input: z.ZodType<Input>,
  handle: Operation<Context, Input, Output>['handle'],
  { status = 200, when, writes = !http.startsWith('GET ') }: Options = {},
): Operation<Context, Input, Output> {
  return { http, when, status, writes, caller: 'anyone', input, handle };
}

/** An operation without a public path, for other services; it leaves no event. */
export function byService<Context, Input, Output>(
  input: z.ZodType<Input>,
  handle: Operation<Context, Input, Output>['handle'],
): Operation<Context, Input, Output> {
  return { status: 200, writes: false, caller: 'service', input, handle };
}
