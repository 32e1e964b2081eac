import { type BatchStatement, type OutboxRow, outboxRow } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Context } from '../context.js';
import type { Agent } from '../generated/prisma/client.js';
import { loginKeyDays, type NewLoginKey, newLoginKey } from '../login-key/new-login-key.js';
import { agentEvent } from './event.js';

/** An agent as it asks to be registered. */
export interface Draft {
  readonly aid: string;
  readonly publicKey: string;
  readonly agentName: string;
  readonly capabilities: string[];
  readonly description: string;
  readonly ownerId?: string;
  readonly endpoint?: string;
  readonly metadata: JsonObject;
}

/** Registers an agent and gives it its first login key, or throws AID_EXISTS: of two at once one wins. */
export async function insertAgent({ database, config, clock }: Context, draft: Draft): Promise<NewLoginKey> {
  const key = newLoginKey(clock.now(), loginKeyDays);
  const { aid, publicKey, agentName: agent_name, capabilities, description, metadata, endpoint, ownerId } = draft;
  const profile = { aid, agent_name, capabilities, description };
  const { id: event_id, type, audience, payload } = outboxRow(agentEvent('registered', profile));
  const registration: Registration = {
    ...profile,
    public_key: publicKey,
    metadata,
    endpoint: endpoint ?? null,
    owner_id: ownerId ?? null,
    region_id: config.REGION_ID,
    at: key.createdAt,
    hash: `\\x${key.hash.toString('hex')}`,
    expires_at: key.expiresAt,
    event_id,
    type,
    audience,
    payload,
  };
  const inserted = await database.batch(insertAgents, registration);
  if (inserted === undefined) throw new AppError('AID_EXISTS');
  return key;
}

type Profile = Omit<Agent, 'status' | 'created_at' | 'updated_at'>;

interface Registration extends Profile, Pick<OutboxRow, 'type' | 'audience' | 'payload'> {
  readonly at: Date;
  /** Of the login key, as PostgreSQL writes bytes. */
  readonly hash: string;
  readonly expires_at: Date;
  readonly event_id: string;
}

/** Agent, login key and event in one round trip. */
const insertAgents: BatchStatement<Registration, unknown> = {
  columns: {
    aid: 'text',
    public_key: 'text',
    agent_name: 'text',
    capabilities: 'text[]',
    description: 'text',
    metadata: 'jsonb',
    endpoint: 'text',
    owner_id: 'text',
    region_id: 'int',
    at: 'timestamptz',
    hash: 'bytea',
    expires_at: 'timestamptz',
    event_id: 'uuid',
    type: 'text',
    audience: 'text[]',
    payload: 'text',
  },
  key: ({ aid }) => aid,
  text: `
    , made AS (
      INSERT INTO agent (
        aid, public_key, agent_name, capabilities, description, metadata, endpoint, owner_id, region_id, created_at, updated_at
      )
      SELECT aid, public_key, agent_name, capabilities, description, metadata, endpoint, owner_id, region_id, at, at FROM input
      ON CONFLICT DO NOTHING
      RETURNING aid
    ),
    told AS (
      INSERT INTO bus.outbox (id, type, occurred_at, audience, actor, payload)
      SELECT event_id, type, at, audience, aid, payload::jsonb FROM input JOIN made USING (aid)
    ),
    keyed AS (
      INSERT INTO login_key (hash, aid, created_at, expires_at)
      SELECT hash, aid, at, expires_at FROM input JOIN made USING (aid)
    )
    SELECT aid AS key FROM made`,
};
