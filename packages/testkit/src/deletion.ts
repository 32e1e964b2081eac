import { EventSchema } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import { newId } from '@acsp/database';
import type { Agent } from '@acsp/operation';
import { create } from '@bufbuild/protobuf';
import { anyPack, timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';

/** The event of identity that says that this life of an agent has ended, with a new id each time. */
export const deletionOf = ({ aid, name, registeredAt = 0 }: Agent, at = new Date()) =>
  create(EventSchema, {
    id: newId(),
    type: 'agent.deleted',
    occurredAt: timestampFromDate(at),
    payload: anyPack(
      AgentEventSchema,
      create(AgentEventSchema, { aid, agentName: name, registeredAt: timestampFromMs(registeredAt) }),
    ),
  });
