import { AppError } from '@acsp/errors';
import type { DescService, MessageShape } from '@bufbuild/protobuf';
import type { GenService, GenServiceMethods } from '@bufbuild/protobuf/codegenv2';
import { z } from 'zod';
import type { Agent, Idempotency, Principal } from './principal.js';
import type { Public } from './public.js';
import { isForAgents, routeOf } from './surface.js';

/** One call of an operation, apart from its input. */
export interface Call {
  readonly caller: Principal;
  /** Ends when the client goes or the deadline passes, and when the process drains: that of a stream at once, others when their time is over. */
  readonly signal: AbortSignal;
  /** When the caller stops waiting, in milliseconds since 1970; passed on to peers. */
  readonly deadline: number;
  /** Present under an Idempotency-Key: hand it to the transaction, and the answer is kept by the commit that makes the change. */
  readonly once: Once | undefined;
  /** Status and headers of an answer over HTTP. */
  readonly reply: Reply;
}

export interface Reply {
  /** In place of the status of the contract: JSON-RPC has its own. */
  status?: number;
  readonly headers: Record<string, string>;
}

/** The answer of an operation is to be kept under its caller's Idempotency-Key. */
export interface Once extends Idempotency {
  /** As the door will send it. */
  readonly encode: (answer: unknown) => KeptAnswer;
}

export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export type Handler<Context, Input, Output, Caller = Principal> = (
  context: Context,
  input: Input,
  caller: Caller,
  call: Call,
) => Output;

/** An operation of a service, served by both doors. How agents reach it stands in the contract. */
export interface Operation<Context, Output> {
  readonly callers: 'agents' | 'anyone';
  readonly input: z.ZodType;
  readonly handle: Handler<Context, never, Output>;
}

/** An operation whose caller is always a known agent; the field `aid`, if given, must be its own. */
export const byAgent = <Context, Input, Output>(
  input: z.ZodType<Input>,
  handle: Handler<Context, Input, Output, Agent>,
): Operation<Context, Output> => ({ callers: 'agents', input, handle: handle as Handler<Context, never, Output> });

/** An operation that needs no known caller, or that only services call. */
export const byAnyone = <Context, Input, Output>(
  input: z.ZodType<Input>,
  handle: Handler<Context, Input, Output>,
): Operation<Context, Output> => ({ callers: 'anyone', input, handle });

/** An operation of the interface that no code serves yet. */
export const unbuilt: Operation<unknown, never> = {
  callers: 'anyone',
  input: z.unknown(),
  handle: () => {
    throw new AppError('SERVICE_UNAVAILABLE', { detail: 'This operation is not built yet' });
  },
};

type Answer<Method extends GenServiceMethods[string]> = Public<MessageShape<Method['output']>>;

/** A row for every rpc of a service, so that one that is missing or has drifted fails to compile. */
export type Operations<Service, Context> =
  Service extends GenService<infer Methods extends GenServiceMethods>
    ? {
        readonly [Name in keyof Methods]: Operation<
          Context,
          Methods[Name]['methodKind'] extends 'server_streaming'
            ? AsyncIterable<Answer<Methods[Name]>>
            : Promise<Answer<Methods[Name]>>
        >;
      }
    : never;

export type AnyOperations = Readonly<Record<string, Operation<never, unknown>>>;

/** Throws where a table and its contract disagree on who may call. */
export function checkOperations(service: DescService, operations: AnyOperations): void {
  for (const desc of service.methods) {
    const operation = operations[desc.localName];
    if (operation === undefined) throw new Error(`${desc} has no operation`);
    if (operation === unbuilt) continue;
    const route = routeOf(desc);
    const expected = route !== undefined && isForAgents(route) ? 'agents' : 'anyone';
    if (operation.callers !== expected) throw new Error(`${desc} is for ${expected} by its contract`);
  }
}
