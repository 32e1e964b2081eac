import { createStack, type Service } from '@acsp/service';
import type { z } from 'zod';
import { holdJobs } from './jobs.js';
import { serveKnownAgents } from './known-agents.js';
import { type ServiceOptions, startService, type TestService } from './start-service.js';

export interface BesideIdentityOptions extends ServiceOptions {
  /** When agents registered, in milliseconds since 1970, where it is not long ago; for those who were deleted and are back. */
  readonly registered?: ReadonlyMap<string, number>;
  /** True lets the service's own sweeps run; otherwise only those of the test do. */
  readonly sweeps?: boolean;
}

type HasSession = Parameters<typeof holdJobs>[0]['context'];

/** A service on a database of its own, with an identity service that knows every agent but the stranger. `jobs` are its sweeps. */
export async function startBesideIdentity<Shape extends z.ZodRawShape, Context extends HasSession>(
  service: Service<Shape, Context>,
  jobs: readonly string[],
  { registered, sweeps = false, ...options }: BesideIdentityOptions = {},
): Promise<TestService<Context>> {
  const stack = createStack();
  const identity = stack.use(await serveKnownAgents(registered));
  const env = { IDENTITY_GRPC: identity.address, ...options.env };
  const started = stack.use(await startService(service, { ...options, env }));
  // The first of several services on one database holds the sweeps of all.
  if (!sweeps && options.databaseUrl === undefined) await holdJobs(started, service.name, jobs);
  return { ...started, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
