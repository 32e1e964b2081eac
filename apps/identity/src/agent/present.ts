import type { JsonObject } from '@bufbuild/protobuf';
import type { Agent } from '../generated/prisma/client.js';

export type ProfileRow = Pick<Agent, 'aid' | 'agent_name' | 'capabilities' | 'description' | 'metadata'>;

/** The column holds nothing but objects. */
export const withMetadata = <Row extends Pick<Agent, 'metadata'>>(row: Row) => ({
  ...row,
  metadata: row.metadata as JsonObject,
});
