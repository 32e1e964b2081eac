import type { Agent, Operation } from '@acsp/operation';
import { createStack } from '@acsp/service';
import {
  type Answer,
  agent,
  holdJobs,
  serveKnownAgents,
  startService,
  stranger,
  type TestClock,
  type TestService,
} from '@acsp/testkit';
import type { Context } from '../src/context.js';
import { service } from '../src/service.js';

export { type Answer, agent, stranger };

export type Tasks = TestService<Context>;

export interface Options {
  readonly clock?: TestClock;
  /** The database of a service that runs already, to share it. */
  readonly databaseUrl?: string;
  /** The address of an identity service, in place of the one that knows every agent but the stranger. */
  readonly identityAddress?: string;
  /** The address of a search service; absent as where none is deployed. */
  readonly searchAddress?: string;
  /** The time that a claim waits for search; the service's own limit when absent. */
  readonly matchTimeoutMs?: number;
  /** True lets the service's own sweeps run; otherwise only those of the test do. */
  readonly sweeps?: boolean;
  /** False does not wait for the tables: for a database that is away. */
  readonly migrated?: boolean;
}

/** The tasks service on a database of its own, with an identity service that knows every agent but the stranger. */
export async function startTasks(options: Options = {}): Promise<Tasks> {
  const { identityAddress, searchAddress, matchTimeoutMs, sweeps = false, migrated = true, ...rest } = options;
  const stack = createStack();
  const env = {
    IDENTITY_GRPC: identityAddress ?? stack.use(await serveKnownAgents()).address,
    SEARCH_GRPC: searchAddress,
    MATCH_TIMEOUT_MS: matchTimeoutMs?.toString(),
  };
  const tasks = stack.use(await startService(service, { ...rest, migrated, env }));
  // The first of several services on one database holds the sweeps of all.
  if (migrated && !sweeps && options.databaseUrl === undefined)
    await holdJobs(tasks, 'tasks', ['expiry', 'departures']);
  return { ...tasks, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}

/** A call of an operation past its doors: several of them begin in one turn of the event loop, which sockets do not grant. */
export function callDirectly<Output>(
  { context }: Tasks,
  operation: Operation<Context, Output>,
  { caller, fields }: { readonly caller: Agent; readonly fields: object },
): Output {
  const call = { signal: new AbortController().signal, deadline: Date.now() + 10_000, once: undefined };
  const input = operation.input.parse(fields) as never;
  return operation.handle(context, input, caller, { ...call, caller, reply: { headers: {} } });
}
