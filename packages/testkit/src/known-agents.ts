import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { AppError } from '@acsp/errors';
import { requestFields, toMessage } from '@acsp/operation';
import { serveRpc } from '@acsp/rpc';
import { agent } from './start-service.js';

/** The one agent that nobody knows. */
export const stranger = { aid: 'f'.repeat(50), name: 'nobody' };

/** The registration of agents of the testkit. */
const longAgo = agent('Any').registeredAt ?? 0;

/**
 * An identity service that knows every agent but the stranger, by its contract: of its rpcs the one that other services call. `registered` has the
 * registrations, in milliseconds since 1970, of agents that were deleted and are back.
 */
export const serveKnownAgents = (registered: ReadonlyMap<string, number> = new Map()) =>
  serveRpc({
    service: IdentityService,
    host: '127.0.0.1',
    port: 0,
    async handle(desc, request) {
      if (desc.name !== 'BatchGetAgents') throw new AppError('INTERNAL_ERROR');
      const { aids = [] } = requestFields(desc.input, request) as { aids?: string[] };
      const known = aids.filter((aid) => aid !== stranger.aid);
      const registered_at = known.map((aid) => new Date(registered.get(aid) ?? longAgo));
      return toMessage(desc.output, { agents: known.map((aid) => ({ aid })), registered_at });
    },
  });
