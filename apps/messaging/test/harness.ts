import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import { requestFields, toMessage } from '@acsp/operation';
import { serveRpc } from '@acsp/rpc';
import { createStack } from '@acsp/service';
import { type Answer, agent, type ServiceOptions, startService, type TestService } from '@acsp/testkit';
import type { Context } from '../src/context.js';
import { service } from '../src/service.js';

export { type Answer, agent };

export type Messaging = TestService<Context>;

export const stranger = { aid: 'f'.repeat(50), name: 'nobody' };

/** The messaging service on a database of its own, with an identity service that knows every agent but the stranger. */
export async function startMessaging(options: ServiceOptions = {}): Promise<Messaging> {
  const stack = createStack();
  const identity = stack.use(await serveKnownAgents());
  const env = { IDENTITY_GRPC: identity.address, ...options.env };
  const messaging = stack.use(await startService(service, { ...options, env }));
  return { ...messaging, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}

/** The one rpc of identity that messaging calls, by its contract. */
const serveKnownAgents = () =>
  serveRpc({
    service: IdentityService,
    host: '127.0.0.1',
    port: 0,
    async handle(desc, request) {
      if (desc.name !== 'BatchGetAgents') throw new AppError('INTERNAL_ERROR');
      const { aids = [] } = requestFields(desc.input, request) as { aids?: string[] };
      const agents = aids.filter((aid) => aid !== stranger.aid).map((aid) => ({ aid }));
      return toMessage(desc.output, { agents });
    },
  });
